// What a watchdog reads of a rank that exchanges messages, out of the memory of its process (src/observe/call_state.hpp).
//   many MESSAGES  the first message and the last are never done; so many begin and end between them, on 3 ranks
//   all MESSAGES   so many are in flight at once, and those that do not come are the first and the last
//   torn           a thread reads while another writes: every message that it reads is one that was written
//   large          a message that is one element of a type of 3 GiB
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "mpi/report.hpp"
#include "observe/observer.hpp"
#include "observe/phases.hpp"

// What mpi/symbols.cpp needs of files that are not linked.
void swapmeet::say(const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); }
bool swapmeet::refused(int) { return true; }

using swapmeet::CallEvent;
using swapmeet::CallState;
using swapmeet::Direction;

namespace {

/// A message whose members all follow from one number.
CallEvent begins(int number) {
  return {.bytes = number,
          .message = static_cast<std::uint64_t>(number),
          .step = static_cast<std::uint32_t>(number),
          .peer = number,
          .kind = CallEvent::Kind::begins,
          .direction = Direction::receive};
}

swapmeet::CallStateCopy read(const CallState& state) {
  return swapmeet::copy_of_call_state(reinterpret_cast<std::uintptr_t>(&state), swapmeet::read_here);
}

void show(const CallState& state) {
  const auto seen = read(state);
  for (const auto& message : seen.messages) std::printf("%d ", message.peer);
  std::printf("and %d more\n", static_cast<int>(seen.more_messages));
}

/// Returns the number of messages that were read, of which `wrong` were never written.
int read_while_written(CallState& state, int& wrong) {
  std::atomic<bool> over = false;
  std::thread writes([&] {
    for (int i = 1; !over; i = i % 1000000 + 1) {
      state.message_begins(begins(i));
      if (i > 100) state.message_is_done(static_cast<std::uint64_t>(i - 100));
      if (i % 256 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  int all = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (all < 20000 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
    for (const CallEvent& seen : read(state).messages) {
      ++all;
      wrong += seen.bytes != seen.peer || static_cast<int>(seen.step) != seen.peer ||
               static_cast<int>(seen.message) != seen.peer || seen.kind != CallEvent::Kind::begins;
    }
  over = true;
  writes.join();
  return all;
}

void show_large(CallState& state) {
  MPI_Init(nullptr, nullptr);
  if (!swapmeet::find_mpi()) return;
  MPI_Datatype type;
  MPI_Type_contiguous(3 << 10, MPI_BYTE, &type);
  MPI_Type_contiguous(1 << 20, type, &type);
  swapmeet::Observer observer;
  observer.publish(swapmeet::OwnCallState(&state, [](CallState*) {}));
  observer.call_begins(swapmeet::Collective::alltoall);
  swapmeet::Watch(&observer).begins(&type, Direction::receive, 1, {nullptr, 1, type}, 1);
  std::printf("%lld bytes\n", static_cast<long long>(read(state).messages.at(0).bytes));
  MPI_Finalize();
}

}  // namespace

int main(int count, char** words) {
  const int messages = count > 2 ? std::atoi(words[2]) : 0, ranks = std::strcmp(words[1], "all") ? 3 : messages;
  CallState state;
  state.room = CallState::room_for(ranks);
  auto list = std::make_unique<CallEvent[]>(static_cast<std::size_t>(state.room));
  state.list = static_cast<CallState::Word>(reinterpret_cast<std::uintptr_t>(list.get()));
  state.call_begins(swapmeet::Collective::alltoall, 0);
  if (!std::strcmp(words[1], "many")) {
    state.message_begins(begins(1));
    for (int i = 2; i < messages; ++i)
      state.message_begins(begins(i)), state.message_is_done(static_cast<std::uint64_t>(i));
    state.message_begins(begins(messages));
    show(state);
  } else if (!std::strcmp(words[1], "all")) {
    for (int i = 1; i <= messages; ++i) state.message_begins(begins(i));
    for (int i = messages - 1; i > 1; --i) state.message_is_done(static_cast<std::uint64_t>(i));
    show(state);
  } else if (!std::strcmp(words[1], "large")) {
    show_large(state);
  } else {
    int wrong = 0;
    const int all = read_while_written(state, wrong);
    std::printf("%s, %d wrong\n", all > 0 ? "some" : "none", wrong);
  }
}
