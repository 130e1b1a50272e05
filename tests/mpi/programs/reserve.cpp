// The library's reserve of memory (src/buffers/reserve.cpp), which is linked in, while malloc has nothing. Prints each request
// that it serves, "+", or refuses, "-".
#include "buffers/reserve.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

extern "C" void* __libc_malloc(std::size_t bytes);

namespace {

bool nothing_left = false;
char letters[128];
int served = 0;

void request(std::size_t bytes) {
  void* memory = nullptr;
  nothing_left = true;
  try {
    memory = operator new(bytes);
    std::memset(memory, 1, bytes);
  } catch (const std::bad_alloc&) {}
  nothing_left = false;
  letters[served++] = memory ? '+' : '-';
  operator delete(memory);
}

}  // namespace

extern "C" void* malloc(std::size_t bytes) { return nothing_left ? nullptr : __libc_malloc(bytes); }

int main() {
  constexpr std::size_t kib = 1024;
  constexpr int ranks = 1000;
  for (const std::size_t bytes : {kib, 64 * kib, 65 * kib}) request(bytes);
  swapmeet::reserve_for(200);  // whose tables are small
  request(65 * kib);
  swapmeet::reserve_for(ranks);
  for (const std::size_t bytes : {65 * kib, 312 * kib, 313 * kib}) request(bytes);
  for (int i = 0; i < 14; ++i) request(312 * kib);  // all but the rest
  request(312 * kib);
  for (int i = 0; i < 62; ++i) request(60 * kib);
  request(60 * kib);  // the rest is kept
  request(4000);
  std::printf("reserve: %s\n", letters);
}
