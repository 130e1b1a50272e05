/// The choice of an algorithm for sparse exchanges.
#pragma once

#include <string>

#include "options/options.hpp"

namespace swapmeet {

struct SparseChoice {
  Spec spec;  ///< Spec::sparse is never `automatic`
  std::string reason;
};

/// The largest number of ranks for `sparse=census`, which sums up the number of messages for each rank before they are
/// sent. On this many ranks the sums take about as long as the latency that they save against NBX, whose sends must be
/// acknowledged (docs/howto/sparse.md).
inline constexpr Rank most_ranks_for_census = 1024;

/// Returns the requested algorithm if it names a sparse one and suits `shape`, else a choice by the number of ranks.
/// Pure, and the same on every rank whose options agree.
SparseChoice choose_sparse(const Shape& shape, const Options& options);

/// Whether choose_sparse() needs Shape::hierarchy.
bool sparse_wants_nodes(const Options& options);

}  // namespace swapmeet
