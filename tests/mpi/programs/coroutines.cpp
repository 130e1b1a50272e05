// Changes between stacks that a sanitizer must follow: coroutines within others, resumed by several threads, exceptions on
// their stacks, and those that do not come to their end.
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

#include "mpi/coroutine.hpp"

using swapmeet::Coroutine;

namespace {

constexpr int rounds = 200;
int frames = 0;

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

}  // namespace

int main() {
  for (int round = 0; round < rounds; ++round) one_within_another(round % 2 == 0);
  std::printf("coroutines: %d frames\n", frames);
}
