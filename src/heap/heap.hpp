/// A heap whose blocks other processes of the node can map. A library that links this has one heap. Any thread may call
/// any function. Nothing is allocated before the first block.
#pragma once

#include <cstddef>

#include "heap/page_file.hpp"
#include "heap/place.hpp"

namespace swapmeet::heap {

namespace detail {
extern constinit PageFile pages;
}

/// Allocates a block of `bytes` bytes (not 0), aligned to `alignment`, a power of two. `zero`: its content is 0.
/// Returns nullptr if no block is available; the caller then uses ordinary memory.
void* take(std::size_t bytes, std::size_t alignment, bool zero);

/// Whether an address lies in the heap. Takes no lock.
inline bool holds(const void* address) { return detail::pages.holds(address); }

/// Frees a block. Returns false if no block begins at this address.
bool give(void* block);

/// Resizes a block in place. Returns false, without a change, if that is not possible.
bool resize(void* block, std::size_t bytes);

/// Size of a block in bytes; 0 if no block begins at this address.
std::size_t bytes_of(const void* block);

/// As in Functions.
bool find(const void* address, Place& place, std::uint64_t& bytes);

/// The reason why this process cannot have a heap; nullptr: it can.
const char* problem();

/// The functions of this heap.
inline constexpr Functions functions{find, problem};

}  // namespace swapmeet::heap
