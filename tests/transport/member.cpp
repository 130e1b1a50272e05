#include "member.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

using swapmeet::Transfer;

Member::Queue Member::queue(std::uint32_t step, std::uint32_t other, bool outgoing) {
  Queue queue{other, outgoing, {}, {}, {}};
  queue.messages = outgoing ? messages(settings_, step, me_, other) : messages(settings_, step, other, me_);
  for (const Message& message : queue.messages) {
    const std::size_t bytes = outgoing ? message.bytes : message.expected;
    queue.memory.push_back(std::make_unique<Scattered>(bytes, draw(message.key, outgoing ? 8 : 9)));
    Scattered& memory = *queue.memory.back();
    if (outgoing) memory.fill(message);
    const swapmeet::SingleCopy offered{.by_kernel_bytes = message.offered ? 1 : SIZE_MAX};
    queue.transfers.push_back(outgoing              ? Transfer::send(node_.link(other), memory.pieces(), bytes, offered)
                              : message.of_any_size ? Transfer::receive(node_.link(other), {}, Transfer::any_size)
                                                    : Transfer::receive(node_.link(other), memory.pieces(), bytes));
  }
  return queue;
}

std::vector<Member::Queue> Member::queues(std::uint32_t step) {
  std::vector<Queue> all;
  for (std::uint32_t other = 0; other < settings_.members; ++other)
    for (const bool outgoing : {true, false}) all.push_back(queue(step, other, outgoing));
  return all;
}

bool Member::right(const Queue& queue, std::size_t k) const {
  const Message& message = queue.messages[k];
  if (queue.outgoing) return !queue.transfers[k].cut;
  const Transfer& transfer = queue.transfers[k];
  return transfer.cut == (message.bytes > message.expected) && transfer.moved == message.bytes &&
         queue.memory[k]->holds(message, std::min(message.bytes, message.expected));
}

/// After so many mistakes the ends have lost each other, and would wait for ever.
void Member::complain() {
  if (++wrong_ < 5) return;
  std::fflush(stdout);
  _exit(1);
}

/// The first message that is not done. The others must wait for it, once it has begun.
bool Member::advance(Queue& queue) {
  if (queue.done()) return false;
  Transfer& first = queue.transfers[queue.next];
  const bool moved = node_.advance(first);
  if (first.wants_memory()) {  // only now it is known how much
    if (first.bytes != queue.messages[queue.next].bytes) complain();
    first.pieces = queue.memory[queue.next]->pieces();
    return true;
  }
  if (!first.done()) {
    if (queue.next + 1 < queue.transfers.size() && node_.advance(queue.transfers[queue.next + 1])) {
      std::printf("member %u: message %zu overtakes the one before\n", me_, queue.next + 1);
      complain();
    }
    return moved;
  }
  if (!right(queue, queue.next)) {
    const Message& message = queue.messages[queue.next];
    std::printf("member %u: message %zu %s %u is wrong: %zu B, %zu expected, %s, moved %zu%s\n", me_, queue.next,
                queue.outgoing ? "to" : "from", queue.other, message.bytes, message.expected,
                message.offered ? "offered" : "data", first.moved, first.cut ? ", cut" : "");
    complain();
  }
  if (queue.outgoing) queue.memory[queue.next]->poison();  // it is the application's again: nobody may read it now
  ++queue.next;
  return true;
}

int Member::run() {
  for (std::uint32_t step = 0; step < settings_.steps; ++step) {
    std::vector<Queue> all = queues(step);
    std::size_t left = all.size();
    while (left > 0) {
      bool moved = false;
      left = 0;
      const std::size_t first = draw(settings_.seed, me_, ++draws_) % all.size();
      for (std::size_t k = 0; k < all.size(); ++k) {
        Queue& queue = all[(first + k) % all.size()];
        if (draw(settings_.seed, me_, ++draws_) % 4) moved |= advance(queue);
        left += !queue.done();
      }
      node_.waiter().turn(moved, false, [] {});
    }
    if (draw(settings_.seed, me_, ++draws_) % 16 == 0) usleep(200);  // so that the others get ahead
  }
  return wrong_;
}
