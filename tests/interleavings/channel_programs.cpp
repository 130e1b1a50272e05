#include "channel_programs.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "scenarios.hpp"

using namespace swapmeet;

ChannelProgram::ChannelProgram(const Setting& setting, std::vector<ChannelExchange> exchanges)
    : NodeProgram(setting), exchanges_(std::move(exchanges)), messages_(setting.ranks), transfers_(setting.ranks) {
  for (Rank me = 0; me < setting.ranks; ++me) {
    make_node(me, shared_memory());
    messages_[me].reserve(16), transfers_[me].reserve(16);  // nothing is allocated later
  }
}

/// As NodeMessages::start().
void ChannelProgram::start(Rank me, std::size_t number, Message& message) {
  const ChannelExchange& is = exchanges_[number];
  NodeLink& link = node(me).link(static_cast<std::uint32_t>(message.other));
  const std::span<const Piece> pieces(&message.piece, 1);
  const std::size_t bytes = message.piece.bytes;
  if (!message.is_sent) {
    message.transfer = Transfer::receive(link, pieces, bytes, call(number));
    message.transfer.in_place = is.in_place;
    return;
  }
  message.transfer.state = Transfer::State::done;
  const bool failed = is.fails && me == 0;
  if (!is.offered && !failed && node(me).send_now(link, message.piece, call(number))) return;
  message.transfer =
      Transfer::send(link, pieces, bytes, is.offered ? SingleCopy{.by_kernel_bytes = 1} : SingleCopy{}, call(number));
  message.transfer.failed = failed;
  node(me).advance(message.transfer);
}

void ChannelProgram::exchange(Rank me, std::size_t number) {
  const ChannelExchange& is = exchanges_[number];
  std::vector<Message>& messages = messages_[me];
  messages.clear();
  if (is.in_place) node(me).begin_in_place();
  const auto add = [&](Rank other, bool is_sent) {
    if (is.one_way && (is_sent ? me : other) != 0) return;
    std::size_t all = 0;
    for (const std::size_t bytes : is.bytes) {
      char* const block = is_sent || is.in_place ? outgoing(me, other) : incoming(me, other);
      messages.push_back({other, is_sent, {block + all, bytes}, {}});
      all += bytes;
    }
    if (is_sent) fill(number, me, other, all);
  };
  for (Rank other = 0; other < setting_.ranks; ++other)
    for (const bool is_sent : {!is.receives_first, is.receives_first})
      if (other != me) add(other, is_sent);
  for (Message& message : messages) start(me, number, message);
  std::vector<const Transfer*>& transfers = transfers_[me];
  transfers.clear();
  for (const Message& message : messages) transfers.push_back(&message.transfer);
  for (std::size_t left = 1; left > 0;) {
    bool moved = false;
    left = 0;
    for (Message& message : messages) {
      if (!message.transfer.done()) moved |= node(me).advance(message.transfer);
      left += !message.transfer.done();
    }
    explorer().must(node(me).broken() == Broken::no, "is out of step");
    if (left == 0) break;
    explorer().turn(moved);
    forget(me, {number, 1}, transfers);
  }
  for (Rank other = 0; other < setting_.ranks; ++other) {
    if (other == me || (is.one_way && other != 0)) continue;
    std::size_t all = 0;
    for (const std::size_t bytes : is.bytes) all += bytes;
    if (is.in_place) std::copy_n(outgoing(me, other), all, incoming(me, other));
    expect(number, me, other, is.fails && other == 0 ? 0 : all);
  }
  forget(me, {number, 0}, {});
}

void ChannelProgram::run(Rank me) {
  for (std::size_t number = 0; number < exchanges_.size(); ++number) exchange(me, number);
}

ArenaProgram::ArenaProgram(const Setting& setting, std::vector<ChannelExchange> exchanges)
    : ChannelProgram(setting, std::move(exchanges)), arenas_(setting.ranks) {
  for (Rank me = 0; me < setting.ranks; ++me) leave_node(me);
  std::memset(shared_memory(), 0, layout_.bytes());
  arenas_[0].make(layout_.bytes());
}

std::uint64_t ArenaProgram::agree(Rank me, std::uint64_t first, std::size_t round) {
  auto* const said = reinterpret_cast<std::atomic<std::uint64_t>*>(shared_memory() + shared_bytes()) - 4;
  if (me == 0) {
    said[round].store(first + 1, std::memory_order_release);
    return first;
  }
  std::uint64_t heard = 0;
  while ((heard = said[round].load(std::memory_order_acquire)) == 0) explorer().turn(false);
  explorer().turn(true);
  return heard - 1;
}

/// As NodePeers::join().
void ArenaProgram::run(Rank me) {
  for (std::size_t number = 0; number < exchanges_.size(); ++number) {
    ArenaPart part;
    if (me == 0) {
      part = arenas_[0].take();
      explorer().must(part.bytes > 0, "has no memory to give");
      arenas_[0].keep(part, layout_.bytes(), setting_.ranks);
      layout_.clear(shared_memory() + part.first);
    }
    const std::uint64_t first = agree(me, part.first, number);
    make_node(me, shared_memory() + first);
    exchange(me, number);
    leave_node(me);
  }
}
