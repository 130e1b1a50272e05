/// The costs of an exchange of unequal blocks for each rank: what exchange/sized.hpp sends and stores, counted without
/// sending. The same flows are walked with the real sizes. So the messages and bytes of one call are those that
/// SWAPMEET_STATS reports (docs/statistics.md), and so is the working memory with complete=all; with complete=any and
/// test it is an upper bound (schedule/working_memory.hpp). [checked by tests/mpi/traffic_test.py]
///
/// The rules of the execution are:
///   - Blocks above a threshold are sent directly, each in a message of its own; in the flow they count as empty.
///   - Messages without data are not sent. A message consists of data only if its receiver knows all sizes (because of
///     Message::last, or because all blocks of the call have one size, on which the ranks agreed).
///   - Sizes take 4 bytes per block. If a size is 2^32 - 3 or more, they take a mark of 4 bytes and 8 bytes per block.
///     If at most half of the blocks have data, they are a mark and a list of these blocks, where that is shorter
///     (schedule/size_format.hpp).
///   - Working memory holds three kinds of messages until the end of the round (complete=all: of the batch). The first
///     are messages that precede others, in both directions (for sizes: the most memory that they may need). The second
///     are gathered messages: all that begin with sizes or have several blocks. The third are received messages, except
///     those of one block that ends here. A received message with blocks to forward stays until the last of these is
///     sent.
///
/// Direct exchanges are counted, too, although SWAPMEET_STATS reports no messages for them: one message for each
/// non-empty block, or for each segment of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/counts.hpp"
#include "model/threshold.hpp"
#include "schedule/flow.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// The counts of one rank in one call.
struct RankCounts {
  std::int64_t messages = 0;       ///< sent; without the messages of a padded plan, as in SWAPMEET_STATS
  std::int64_t message_bytes = 0;  ///< bytes in these messages
  std::int64_t size_bytes = 0;     ///< part of message_bytes that is sizes and lengths
  std::int64_t working_bytes = 0;  ///< maximum over time; without the memory of a padded plan
  // Of the plan that exchanges padded blocks of N bytes each; 0 if nothing is padded.
  std::int64_t plan_messages = 0;       ///< K, or a multiple of it if blocks are cut into segments
  std::int64_t plan_bytes = 0;          ///< D·N
  std::int64_t plan_scratch_bytes = 0;  ///< in addition to the 2·P·N of padded blocks
};

/// The counts of all ranks in one call.
struct VaryingCounts {
  Sizes sizes = Sizes::automatic;    ///< treatment of sizes; automatic: a direct exchange, which needs none
  std::int64_t agreement_bytes = 0;  ///< of the allreduce before the exchange; not counted above
  std::int64_t direct_bytes = 0;     ///< threshold above which blocks are sent directly; Direct::never
  std::int64_t each_bytes = 0;     ///< size of every block, if all ranks know it; 0: sizes differ, or are not agreed on
  std::int64_t padded_bytes = 0;   ///< N; 0 if nothing is padded
  std::int64_t bound_bytes = 0;    ///< upper bound on working_bytes of all ranks
  std::int64_t largest_bytes = 0;  ///< largest block for another rank
  double mean_bytes = 0;           ///< mean of the blocks for other ranks, empty ones included
  /// above the limit of working memory: the host MPI serves the call, and the other members have no meaning
  bool declined = false;
  bool plan_known = true;  ///< false: the host MPI exchanges the padded blocks
  std::vector<RankCounts> ranks;
};

/// A counter for a spec on a number of ranks, for any sizes.
class VaryingCounter {
 public:
  /// Prepares the counter. Requires problem(spec, shape) to be empty. O(P·D) time and memory (for all ranks) for the
  /// family bruck.
  VaryingCounter(const Spec& spec, const Shape& shape);

  Rank ranks() const { return ranks_; }

  /// Returns why such an exchange cannot be counted; "" if it can.
  static std::string problem(const Spec& spec, const Shape& shape);

  /// Returns the approximate memory of a counter and of the sizes.
  static std::int64_t memory_bytes(const Spec& spec, const Shape& shape);

  /// Counts one call.
  /// @param sizes        bytes of each block: P·P, those from rank 0 to ranks 0, 1, ... first.
  /// @param limit_bytes  SWAPMEET_SCRATCH_LIMIT.
  VaryingCounts count(std::span<const std::int64_t> sizes, std::int64_t limit_bytes) const;

 private:
  struct PlanCounts : Counts {
    std::int64_t scratch_blocks;
  };

  friend class VaryingWalk;

  struct Matrix;

  void find_origins();
  void agree(const Matrix& matrix, std::int64_t limit_bytes, VaryingCounts& counts) const;
  void count_direct(Rank rank, const Matrix& matrix, std::int64_t direct_bytes, std::int64_t segment_bytes,
                    VaryingCounts& counts) const;
  void count_padded(VaryingCounts& counts) const;

  Spec spec_;
  Shape shape_;
  Rank ranks_;
  Sizes sizes_;  ///< with `auto` replaced
  Forwarding forwarding_;
  std::int64_t working_blocks_ = 0;  ///< maximum over the ranks
  std::vector<Flow> flows_;
  std::vector<std::vector<std::uint32_t>> origins_;  ///< of the blocks that a rank forwards: source · P + destination
  std::vector<PlanCounts> plans_;                    ///< of each rank, for padded blocks
};

}  // namespace swapmeet
