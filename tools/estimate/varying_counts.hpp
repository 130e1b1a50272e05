/// What an exchange of blocks of unequal size costs each rank: what engine/varying.hpp would send and keep, counted
/// without sending. The same flows are walked with real sizes, so for one call messages and bytes are what
/// SWAPMEET_STATS reports (docs/statistics.md), and so is working memory with complete=all; with complete=any and test
/// it is an upper bound (schedule/working_memory.hpp).                       [checked by tests/mpi/traffic_test.py]
///
/// The execution's rules, once more:
///   - Blocks above a threshold are sent directly, each in a message of its own; in the flow they count as empty.
///   - Messages without data are not sent. Messages whose receiver knows all sizes (Message::last, or the blocks of the call
///     are of one size, on which the ranks agreed) are data only.
///   - Sizes are 4 bytes a block; if one is 2^32 - 3 or more, a mark of 4 bytes and 8 bytes a block; where at most half of
///     the blocks have data, and that is shorter, a mark and a list of those (schedule/size_format.hpp).
///   - In working memory are, until the round (complete=all: the batch) is over: what goes ahead in both directions (of sizes: the room that they
///     may need), messages that are gathered (all that begin with sizes or have several blocks), and messages that land
///     (all but those of one block that ends here). Those with blocks to be passed on stay until the last of these has
///     left.
///
/// Also counted are direct exchanges, for which SWAPMEET_STATS reports no messages: one for each block that is not
/// empty, or for each segment of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/threshold.hpp"
#include "schedule/flow.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// Of one rank, in one call.
struct RankCounts {
  std::int64_t messages = 0;       ///< sent; without what a padded plan itself sends, as in SWAPMEET_STATS
  std::int64_t message_bytes = 0;  ///< in them
  std::int64_t size_bytes = 0;     ///< of these, sizes and lengths
  std::int64_t working_bytes = 0;  ///< the most at a time; without what a padded plan itself uses
  // Of the plan that exchanges padded blocks, of N bytes each; 0 if nothing is padded.
  std::int64_t plan_messages = 0;       ///< K, or a multiple if blocks are cut into segments
  std::int64_t plan_bytes = 0;          ///< D·N
  std::int64_t plan_scratch_bytes = 0;  ///< besides the 2·P·N of padded blocks
};

/// Of all ranks, in one call.
struct VaryingCounts {
  Sizes sizes = Sizes::automatic;    ///< the treatment; automatic: of a direct exchange, which needs none
  std::int64_t agreement_bytes = 0;  ///< that an allreduce exchanges first; not counted above
  std::int64_t direct_bytes = 0;     ///< blocks of more bytes are sent directly; Direct::never
  std::int64_t each_bytes = 0;       ///< of every block, where all ranks know it; 0: they differ, or nobody asked
  std::int64_t padded_bytes = 0;     ///< N; 0 if nothing is padded
  std::int64_t bound_bytes = 0;      ///< no rank's working_bytes is more
  std::int64_t largest_bytes = 0;    ///< of a block for another rank
  double mean_bytes = 0;             ///< of the blocks for other ranks, empty ones included
  /// beyond the limit of working memory: the host MPI serves the call, the rest is void
  bool declined = false;
  bool plan_known = true;  ///< false: the host MPI exchanges the padded blocks
  std::vector<RankCounts> ranks;
};

/// A spec on a number of ranks, prepared for any sizes.
class VaryingCounter {
 public:
  /// Requires problem(spec, shape) to be empty. O(P·D) time and memory (of all ranks) for the family bruck.
  VaryingCounter(const Spec& spec, const Shape& shape);

  Rank ranks() const { return ranks_; }

  /// Why such an exchange cannot be counted; "" if it can.
  static std::string problem(const Spec& spec, const Shape& shape);

  /// About the memory that a counter and the sizes take.
  static std::int64_t memory_bytes(const Spec& spec, const Shape& shape);

  /// @param sizes        bytes of each block: P·P, the blocks of rank 0 for ranks 0, 1, ... first.
  /// @param limit_bytes  SWAPMEET_SCRATCH_LIMIT.
  VaryingCounts count(std::span<const std::int64_t> sizes, std::int64_t limit_bytes) const;

 private:
  friend class VaryingWalk;

  /// What a rank's plan for padded blocks sends.
  struct PlanCounts {
    std::int64_t messages = 0, blocks = 0, scratch_blocks = 0;
  };

  struct Matrix;

  void find_origins();
  void agree(const Matrix& matrix, std::int64_t limit_bytes, VaryingCounts& counts) const;
  void count_direct(Rank rank, const Matrix& matrix, std::int64_t direct_bytes, std::int64_t segment_bytes,
                    VaryingCounts& counts) const;
  void count_padded(VaryingCounts& counts) const;

  Spec spec_;
  Shape shape_;
  Rank ranks_;
  Sizes sizes_;  ///< `auto` replaced
  Forwarding forwarding_;
  std::int64_t working_blocks_ = 0;  ///< the most of any rank
  std::vector<Flow> flows_;
  std::vector<std::vector<std::uint32_t>> origins_;  ///< of the blocks that a rank passes on: source · P + destination
  std::vector<PlanCounts> plans_;
};

}  // namespace swapmeet
