/// All pairs of places of a ring in phases and parts: network/torus_slots.hpp says what these are.
#pragma once

#include <cstdint>
#include <vector>

namespace swapmeet {

struct Turn {
  std::int32_t phase = 0, part = 0;
};

/// Messages go the shorter way round. Where both are as long, those to even places go up and the others down, or all of
/// them the other way: the same turns do for both.
struct Ring {
  std::int32_t places = 1, phases = 1, parts = 1;
  std::vector<Turn> turns;  ///< [from · places + to]

  Turn& turn(std::int32_t from, std::int32_t to) {
    return turns[static_cast<std::size_t>(from) * static_cast<std::size_t>(places) + static_cast<std::size_t>(to)];
  }
  const Turn& turn(std::int32_t from, std::int32_t to) const { return const_cast<Ring*>(this)->turn(from, to); }
};

/// As many phases as places, each of ⌈n/8⌉ parts. Requires n to be a multiple of 4.
Ring matched_ring(std::int32_t n);

/// Phases of one part, as few as a search finds: max(n, ⌈n²/8⌉) at least.
Ring coloured_ring(std::int32_t n);

}  // namespace swapmeet
