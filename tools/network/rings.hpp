/// Orders of all pairs of places of a ring, as phases and parts (defined in network/torus_slots.hpp).
#pragma once

#include <cstdint>
#include <vector>

namespace swapmeet {

struct Turn {
  std::int32_t phase = 0, part = 0;
};

/// An order of all pairs of a ring. Messages go the shorter way round. If both ways are equally long, messages to even
/// places go up and the others down, or all of them the other way; the same turns are valid for both.
struct Ring {
  std::int32_t places = 1, phases = 1, parts = 1;
  std::vector<Turn> turns;  ///< [from · places + to]

  Turn& turn(std::int32_t from, std::int32_t to) {
    return turns[static_cast<std::size_t>(from) * static_cast<std::size_t>(places) + static_cast<std::size_t>(to)];
  }
  const Turn& turn(std::int32_t from, std::int32_t to) const { return const_cast<Ring*>(this)->turn(from, to); }
};

/// Returns a ring with as many phases as places, each of ⌈n/8⌉ parts. Requires n to be a multiple of 4.
Ring matched_ring(std::int32_t n);

/// Returns a ring with phases of one part, as few as a search finds; the lower bound is max(n, ⌈n²/8⌉).
Ring coloured_ring(std::int32_t n);

}  // namespace swapmeet
