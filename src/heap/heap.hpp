/// Blocks in memory that other processes of the node can map. There is one heap in a library that links this. Any thread;
/// nothing is made before the first block.
#pragma once

#include <cstddef>

#include "heap/page_file.hpp"

namespace swapmeet::heap {

namespace detail {
extern constinit PageFile pages;
}

/// A block of `bytes` bytes, not 0, at a multiple of `alignment`, a power of two; `zero`: all of it is 0. nullptr: there is
/// none to be had, and the caller takes ordinary memory.
void* take(std::size_t bytes, std::size_t alignment, bool zero);

/// Whether an address lies in the heap. Takes no lock.
inline bool holds(const void* address) { return detail::pages.holds(address); }

/// Ends a block. False: none begins there.
bool give(void* block);

/// Gives a block another size where it is. False: it stays as it was.
bool resize(void* block, std::size_t bytes);

/// 0: no block begins there.
std::size_t bytes_of(const void* block);

/// As of Functions.
bool find(const void* address, Place& place);

/// Why there can be no heap in this process; nullptr: there can.
const char* problem();

}  // namespace swapmeet::heap
