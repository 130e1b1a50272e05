// Changes between stacks that a sanitizer must follow: coroutines within others, resumed by several threads, exceptions on
// their stacks, and those that do not come to their end. Then many coroutines, whose bodies come one after another: on how
// many stacks, and how many stretches of memory were unmapped, or emptied, of the process' own code.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mpi/coroutine.hpp"

using swapmeet::Coroutine;

namespace {

constexpr int rounds = 200, many = 1000;
int frames = 0, taken_away = 0;

[[gnu::noinline]] void use_stack(int depth) {
  char memory[200];
  std::memset(memory, depth, sizeof memory);
  volatile char* const seen = memory;
  if (depth > 0 && depth % 3 == 0) Coroutine::suspend();
  if (depth > 0) use_stack(depth - 1);
  frames += seen[10] == depth;
}

[[gnu::noinline]] void fail(int depth) {
  char memory[100];
  std::memset(memory, depth, sizeof memory);
  volatile char* const seen = memory;
  if (depth == 0) throw std::runtime_error("expected");
  if (depth == 5) Coroutine::suspend();
  fail(depth - 1);
  frames += seen[3];
}

void one_within_another(bool to_the_end) {
  Coroutine inner, outer;
  const bool began = inner.begin([] { use_stack(20); }) && outer.begin([&] {
    try {
      fail(10);
    } catch (const std::exception&) { ++frames; }
    while (!inner.resume()) Coroutine::suspend();
  });
  if (!began) return;
  bool over = false;
  for (int i = 0; !over && (to_the_end || i < 3); ++i) {
    std::thread other([&] {
      over = outer.resume();
      use_stack(2);
    });
    other.join();
    if (!over) over = outer.resume();
  }
  use_stack(2);
  if (!over || !outer.begin([] { use_stack(2); })) return;  // the next on the same stack
  while (!outer.resume());
}

/// Where bodies ran, one after another.
std::size_t stacks_of_many() {
  std::set<std::uintptr_t> found;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Coroutine>> all;
    for (int i = 0; i < many; ++i) all.push_back(std::make_unique<Coroutine>());
    for (const auto& one : all) {
      if (!one->begin([&found] { found.insert(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) >> 19); }))
        return 0;
      while (!one->resume());
    }
  }
  return found.size();
}

}  // namespace

extern "C" int munmap(void* memory, std::size_t bytes) {
  ++taken_away;
  return static_cast<int>(syscall(SYS_munmap, memory, bytes));
}
extern "C" int madvise(void* memory, std::size_t bytes, int advice) {
  ++taken_away;
  return static_cast<int>(syscall(SYS_madvise, memory, bytes, advice));
}

int main() {
  for (int round = 0; round < rounds; ++round) one_within_another(round % 2 == 0);
  taken_away = 0;
  const std::size_t stacks = stacks_of_many();
  std::printf("coroutines: %d frames; %d of them on %zu stacks, %d emptied\n", frames, many, stacks, taken_away);
}
