/// A team: the ranks of a communicator of the application, or of a plan, and how they communicate: by collective calls
/// of the host MPI on the application's communicator, and by messages of this library. The messages are sent on the
/// communicator of the job (job.hpp), to the receiver's rank in the job.
///
/// Teams need no agreement on a common number. Each rank numbers its own teams, and sends the other members the number
/// of the team. Only the rank that gave the number interprets it: senders put the receiver's number into the tag. So
/// teams may overlap, several threads may set up teams at the same time, and a team may have different numbers on its
/// ranks. The destructor makes the number free again, because every exchange has then received all messages that were
/// sent to it. If that is not certain (keep_number()), the number is never used again.
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
  /// Makes a team and takes a number for it. `job_ranks` are its members' ranks in the job, in the order of the team.
  /// `user` is as in set_user_comm(). `reached`: whether messages of the job reach the members. If not, the team takes no
  /// number, and cannot send messages. Local.
  Team(Job& job, std::shared_ptr<const std::vector<int>> job_ranks, Rank rank, MPI_Comm user, bool reached);
  /// Makes another team of the members of `other`.
  Team(const Team& other, MPI_Comm user) : Team(other.job_, other.job_ranks_, other.rank_, user, other.reached_) {}
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// The number of members, and this rank's number among them.
  Rank size() const { return static_cast<Rank>(job_ranks_->size()); }
  Rank rank() const { return rank_; }
  const std::shared_ptr<const std::vector<int>>& job_ranks() const { return job_ranks_; }

  /// The number that this rank has given to the team; negative if it has none.
  std::int32_t number() const { return number_; }
  /// Sets the numbers that the members have given to the team. If one of them is negative, messages cannot be sent.
  /// Local.
  void set_numbers(std::span<const std::int32_t> numbers);
  /// Records that all members have given the team the number that this rank has given it: number(). Local.
  void use_common_number();
  /// Exchanges the numbers by collective calls on user_comm(), and sets them. It takes one allreduce if all numbers are
  /// equal, as is usual, or if a member has none. Returns an MPI error code.
  int exchange_numbers();

  /// Whether messages can be sent: the same on all ranks.
  bool has_messages() const { return has_messages_; }

  /// Whether messages of the job reach the members: the same on all ranks.
  bool reached() const { return reached_; }

  /// The communicator of the job.
  MPI_Comm comm() const { return comm_; }
  /// The rank of `peer` in the job, which is its rank on comm().
  int job_rank(Rank peer) const { return rank_on_comm_[peer]; }
  /// The tag of a message to `peer`. `plain`: the tag without the number of a team, as by Tags::of().
  int tag_to(Rank peer, int plain) const { return plain + (summands_ ? summands_[peer] : own_summand_); }
  /// The tag of a message to this rank.
  int tag_here(int plain) const { return plain + own_summand_; }
  /// The member whose rank in the job is `job_rank`; size() if there is none.
  Rank member(int job_rank) const;

  const Tags& tags() const { return job_.tags(); }

  /// Records that a message may never be received, so that the number must not be used again. Any thread.
  void keep_number() { keeps_number_.store(true, std::memory_order_relaxed); }

  /// Records that no member may wait for another any more: one has died, or the application has revoked the
  /// communicator. Any thread.
  void give_up() { given_up_.store(true, std::memory_order_release), keep_number(); }

  /// The application's communicator of these ranks, on which it may revoke them, and on which blocking calls make
  /// collective calls of the host MPI. MPI_COMM_NULL if it is freed or unknown.
  MPI_Comm user_comm() const { return user_; }
  void set_user_comm(MPI_Comm user) { user_ = user; }
  /// A communicator of this rank alone, for packing and for messages to itself, on which errors are returned.
  MPI_Comm alone() const { return job_.alone(); }

  /// Whether the work that uses the team is executed in steps (steps.hpp), so that it must not wait.
  bool in_steps() const { return in_steps_; }
  void executes_in_steps(bool now) { in_steps_ = now; }

  /// Checks for a fault, if ranks may die. Returns the error for a member that must not wait any more, or MPI_SUCCESS.
  /// `closely` also checks whether a member has died, which costs more. Local.
  int fault(bool closely) const;

 private:
  Job& job_;
  const std::int32_t number_;
  const MPI_Comm comm_;  ///< after number_: a team that has a number has the communicator
  // Pointers into the vectors below: each message reads them, and then does so by one load.
  const int* rank_on_comm_;        ///< data of job_ranks_
  const int* summands_ = nullptr;  ///< data of tag_summands_, or nullptr if it is empty
  std::shared_ptr<const std::vector<int>> job_ranks_;
  Rank rank_;
  bool reached_;
  int own_summand_ = 0;
  bool has_messages_ = false, in_steps_ = false;
  std::vector<int> tag_summands_;  ///< for tags to each member (Tags::of_team()); empty if all equal own_summand_
  std::atomic<bool> keeps_number_{false}, given_up_{false};
  MPI_Comm user_;
};

}  // namespace swapmeet
