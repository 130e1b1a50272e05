/// The ranks that exchange something together: those of a communicator of the application, or of a plan. Their messages travel
/// on the communicator of the job (job.hpp), addressed by rank of the job.
///
/// Nothing is agreed on for that. Each rank numbers its own teams, and tells the other members its number, which means something
/// only to the rank that gave it: senders put the receiver's number into the tag. So teams may overlap, may be set up by several
/// threads at the same time, and may have other numbers on other ranks. A number is free again when its team is no more: every
/// exchange has received all that was sent to it, and one that has not (lose()) keeps its number for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/mpi.hpp"
#include "schedule/schedule.hpp"
#include "team/job.hpp"

namespace swapmeet {

class Team {
 public:
  /// `job_ranks`: of its members, in their order. `user`: as of called(). Takes a number for it. Local.
  Team(Job& job, std::shared_ptr<const std::vector<int>> job_ranks, Rank rank, MPI_Comm user);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  Rank ranks() const { return static_cast<Rank>(job_ranks_->size()); }
  Rank rank() const { return rank_; }
  const std::shared_ptr<const std::vector<int>>& job_ranks() const { return job_ranks_; }

  /// The number that this rank has given to it; negative: it has none.
  std::int32_t number() const { return number_; }
  /// Each member has told its number. Where one of them has none, messages cannot be sent.
  void hear(std::span<const std::int32_t> numbers);
  void hear_same(std::int32_t number_of_all);
  /// The same, by a collective call of the host MPI on `comm`, which has the same ranks: one MPI_Allreduce where all have the same
  /// number, as is usual. Returns as MPI does.
  int tell_numbers(MPI_Comm comm);

  /// Whether messages can be sent: the same on all ranks.
  bool has_messages() const { return has_messages_; }

  /// Where a message for `peer` goes, and with which tag; where one from it comes from, and with which.
  MPI_Comm comm() const { return comm_; }
  int address(Rank peer) const { return addresses_[peer]; }
  int tag_to(Rank peer, int tag) const { return tag + (marks_of_peers_ ? marks_of_peers_[peer] : own_mark_); }
  int tag_here(int tag) const { return tag + own_mark_; }
  /// The member that has this rank in the job.
  Rank member(int job_rank) const;

  const Tags& tags() const { return job_.tags(); }

  /// Something that was sent may never be received.
  void lose() { lost_.store(true, std::memory_order_relaxed); }

  /// No member is to wait for another any more, for one has died or the application has revoked the communicator. Any thread.
  void end() { ended_.store(true, std::memory_order_release), lose(); }

  /// What the application calls it: MPI_COMM_NULL where that is freed, or unknown.
  void called(MPI_Comm user) { user_ = user; }

  /// Where ranks may die: the error for who waits here for another and is not to any more. MPI_SUCCESS: goes on. `closely`: looks
  /// for members that have died, too. Local.
  int fault(bool closely) const;

 private:
  Job& job_;
  const MPI_Comm comm_;
  const int* addresses_;                 ///< job_ranks_
  const int* marks_of_peers_ = nullptr;  ///< marks_, if there are any
  std::shared_ptr<const std::vector<int>> job_ranks_;
  Rank rank_;
  std::int32_t number_;
  int own_mark_ = 0;
  bool has_messages_ = false;
  std::vector<int> marks_;  ///< what each member wants added to tags; empty: all the same as this rank
  std::atomic<bool> lost_{false}, ended_{false};
  MPI_Comm user_;
};

}  // namespace swapmeet
