/// An exchange of blocks of unequal size as equal blocks: every block is padded to the size of the largest.
#pragma once

#include <cstdint>
#include <optional>

#include "buffers/blocks.hpp"
#include "buffers/memory.hpp"
#include "exchange/invocation.hpp"
#include "exchange/failure.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

class Plan;

class Padded {
 public:
  /// `plan` exchanges the equal blocks. nullptr: the host MPI does, which requires calls that wait.
  Padded(Rank ranks, Rank rank, Plan* plan) : ranks_(ranks), rank_(rank), plan_(plan) {}

  /// Makes room for blocks of `room` bytes, the same number on all ranks. Collective if the memory must grow. Returns
  /// false on all ranks if one of them has no memory.
  bool reserve(std::int64_t room, Team* team);

  /// Exchanges all blocks that fit into the padded size, except for the rank's own block. Returns MPI_SUCCESS,
  /// `unfinished`, or an error after which the exchange was given up.
  int advance(const Blocks& send, const Blocks& receive, const Invocation& call, Failure& failure);

  /// The largest number of bytes of working memory in use so far, without that of the plan.
  std::int64_t peak() const { return peak_; }

 private:
  void copy(const Blocks& blocks, Rank i, bool in);
  char* flag(const Memory& memory, Rank i) const;
  int begin(const Invocation& call);

  Rank ranks_, rank_;
  Plan* plan_;
  Memory out_, in_;
  std::int64_t room_ = 0, held_ = 0;  ///< bytes of a padded block: in this call, and as allocated
  std::int64_t stride_ = 0;           ///< bytes from one block to the next
  std::int64_t peak_ = 0;
  bool begun_ = false;
  std::optional<Blocks> send_, receive_;
};

}  // namespace swapmeet
