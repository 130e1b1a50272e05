/// What a communicator keeps for sparse exchanges.
#pragma once

#include <optional>
#include <vector>

#include "buffers/blocks.hpp"
#include "choose/sparse.hpp"
#include "sparse/arrivals.hpp"
#include "sparse/fabric.hpp"
#include "sparse/route.hpp"

namespace swapmeet {

/// How they are made: found out by the first, and anew after swapmeet_set_algorithm().
struct SparsePlan {
  SparseChoice choice;
  std::vector<int> counts;           ///< of a census: room for one of each rank
  std::optional<SparseRoute> route;  ///< where messages are passed on
};

/// What a rank sends, message by message.
struct SparseRequest {
  std::span<const SparseSend> sends;
  const Blocks& blocks;
};

}  // namespace swapmeet
