/// A reserve of memory for small requests when the system has none left (reserve.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace swapmeet {

/// The largest entry for one rank, in bytes, of a table that the reserve serves.
inline constexpr std::size_t table_bytes_per_rank = 320;

/// Sizes the reserve for the tables of a job of `ranks` ranks. It is called once in a process, before ranks agree on
/// anything.
void reserve_for(std::int32_t ranks);

}  // namespace swapmeet
