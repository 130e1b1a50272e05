/// The cost of messages within a node in a simulation. Simulated time does not pass while code runs, so a copy costs
/// nothing unless the code that copies calls charge(). In other builds charge() is empty.
#pragma once

#include <cstddef>

namespace swapmeet {

#ifdef SWAPMEET_SIMULATED
/// Lets simulated time pass for `bytes` bytes of a message. The sender calls it before it hands the bytes over; the
/// receiver calls it with `arrived` set when it has copied them out.
inline void (*charge)(std::size_t bytes, bool arrived) = [](std::size_t, bool) {};
#else
inline void charge(std::size_t, bool) {}
#endif

}  // namespace swapmeet
