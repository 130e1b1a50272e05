/// The cost of messages within a node in a simulation. Simulated time does not pass while code runs, so a copy costs
/// nothing unless the code that copies calls charge(). In other builds charge() is empty.
#pragma once

#include <cstddef>

namespace swapmeet {

/// The rank whose time passes.
enum class ChargeTo { sender, receiver };

#ifdef SWAPMEET_SIMULATED
/// Lets simulated time pass for `bytes` bytes of a message. The sender calls it before it hands the bytes over, the
/// receiver when it has copied them out.
inline void (*charge)(std::size_t bytes, ChargeTo end) = [](std::size_t, ChargeTo) {};
#else
inline void charge(std::size_t, ChargeTo) {}
#endif

}  // namespace swapmeet
