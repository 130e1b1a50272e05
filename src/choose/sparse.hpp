/// How a sparse exchange is made.
#pragma once

#include <string>

#include "options/options.hpp"

namespace swapmeet {

struct SparseChoice {
  Spec spec;  ///< Spec::sparse is not `automatic`
  std::string reason;
};

/// On so many ranks the sums of a census take about as long as what it saves against NBX: one latency, for its sends
/// need not be acknowledged (docs/howto/sparse.md).
inline constexpr Rank most_ranks_for_census = 1024;

/// By the algorithm that was asked for, where it says something of sparse exchanges and suits `shape`; else by the number
/// of ranks. Pure, and the same on every rank whose options agree.
SparseChoice choose_sparse(const Shape& shape, const Options& options);

/// Whether it wants to know Shape::hierarchy.
bool sparse_wants_nodes(const Options& options);

}  // namespace swapmeet
