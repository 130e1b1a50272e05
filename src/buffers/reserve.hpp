/// Memory for small requests when there is none left (reserve.cpp).
#pragma once

#include <cstdint>

namespace swapmeet {

/// Has it serve tables of a job of this number of ranks. Once a process; before ranks agree on anything.
void reserve_for(std::int32_t ranks);

}  // namespace swapmeet
