/// Blocks of unequal size exchanged as equal ones: every block as large as the largest.
#pragma once

#include <cstdint>
#include <optional>

#include "buffers/blocks.hpp"
#include "buffers/memory.hpp"
#include "exchange/invocation.hpp"
#include "exchange/failure.hpp"
#include "team/peers.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

class Plan;

class Padded {
 public:
  /// `plan` exchanges the equal blocks; nullptr: the host MPI does, in calls that wait.
  Padded(Rank ranks, Rank rank, Plan* plan) : ranks_(ranks), rank_(rank), plan_(plan) {}

  /// Makes room for blocks of so many bytes. Collective where there may be none; the same on all ranks. False: one has
  /// no memory.
  bool reserve(std::int64_t room, const Peers* peers);

  /// The exchange of all blocks of at most as many bytes as there is room for, but the rank's own. Returns MPI_SUCCESS,
  /// `unfinished`, or an error after which it was given up.
  int advance(const Blocks& send, const Blocks& receive, const Invocation& call, Failure& failure);

  /// The most bytes of working memory that was in use, without those of the plan.
  std::int64_t peak() const { return peak_; }

 private:
  void copy(const Blocks& blocks, Rank i, bool in);
  char* flag(const Memory& memory, Rank i) const;
  int begin(const Invocation& call);

  Rank ranks_, rank_;
  Plan* plan_;
  Memory out_, in_;
  std::int64_t room_ = 0, held_ = 0;  ///< bytes of a block: now; that memory is held for
  std::int64_t stride_ = 0;           ///< from one block to the next
  std::int64_t peak_ = 0;
  bool begun_ = false;
  std::optional<Blocks> send_, receive_;
};

}  // namespace swapmeet
