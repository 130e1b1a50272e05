/// The correct result for the proofs: the block that each receive block must hold at the end. Other collectives have
/// such a description, too (tools/proofs/neighbours.cpp).
#pragma once

#include "schedule/schedule.hpp"

namespace swapmeet {

using Block = std::int64_t;  // source rank · stride + number in its send buffer
inline constexpr Block nothing = -1;

/// The result of an all-to-all: block d of each rank goes to rank d.
struct AllToAll {
  Block stride;

  Rank destination(Block block) const { return static_cast<Rank>(block % stride); }
  Block at_end(std::size_t rank, std::size_t number) const {
    return static_cast<Block>(number) * stride + static_cast<Block>(rank);
  }
};

}  // namespace swapmeet
