/// State of a communicator for sparse exchanges.
#pragma once

#include <optional>
#include <vector>

#include "buffers/blocks.hpp"
#include "choose/sparse.hpp"
#include "sparse/arrivals.hpp"
#include "sparse/fabric.hpp"
#include "sparse/route.hpp"

namespace swapmeet {

/// The algorithm of sparse exchanges. The first exchange prepares it, and the first after swapmeet_set_algorithm()
/// prepares it anew.
struct SparsePlan {
  SparseChoice choice;
  std::vector<int> counts;           ///< for Sparse::census: working memory for one count of each rank
  std::optional<SparseRoute> route;  ///< route of forwarded messages; nothing: messages are sent directly
};

/// The messages that a rank sends in one exchange.
struct SparseRequest {
  std::span<const SparseSend> sends;
  const Blocks& blocks;
};

}  // namespace swapmeet
