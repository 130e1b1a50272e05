/// A reserve of memory for small requests when the system has none left (reserve.cpp).
#pragma once

#include <cstdint>

namespace swapmeet {

/// Sizes the reserve for the tables of a job of `ranks` ranks. It is called once in a process, before ranks agree on
/// anything.
void reserve_for(std::int32_t ranks);

}  // namespace swapmeet
