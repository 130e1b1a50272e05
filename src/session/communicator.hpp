/// State of the library for one communicator of the application, attached to it as an attribute.
#pragma once

#include <atomic>
#include <optional>

#include "mpi/datatype.hpp"
#include "options/options.hpp"
#include "session/call.hpp"
#include "session/call_observer.hpp"
#include "session/context.hpp"
#include "session/decisions.hpp"
#include "session/fast_paths.hpp"
#include "session/lookup.hpp"
#include "session/members.hpp"
#include "session/neighbour_plans.hpp"
#include "session/node_sharing.hpp"
#include "session/plan_cache.hpp"
#include "session/planning.hpp"
#include "session/record_exchange.hpp"
#include "session/sparse.hpp"
#include "session/starts.hpp"

namespace swapmeet {

/// Reason why a call is left to the host MPI.
inline constexpr const char* first_call = "a first call on the communicator: another one is awaited before setting up";

/// What the calls of one communicator keep from one to the next: descriptions of datatypes, and memory for blocks.
struct CallMemory {
  Datatypes datatypes;
  BlockTypes send_types, receive_types;
  CopyMemory copies;
};

/// The parts of this state, and what concerns several of them: set-up, faults, the end. Each part refers to those that
/// are declared before it; only online tuning (in Decisions) and Starts refer to the whole.
class Communicator {
 public:
  /// Exchanges the ranks' parameters (records) and agrees on the options, unless `set_up` or `calls` puts that off;
  /// be_ready() does so then. Collective over `user` if records are exchanged, else local. All calls on an
  /// intercommunicator are left to the host MPI. `first`: the MPI_Alltoall in which the communicator is set up, or
  /// nullptr; its blocks are piggybacked on the records if they are small.
  Communicator(MPI_Comm user, const Options& options, SetUp set_up, const SetupPolicy& calls, const FirstCall* first);
  ~Communicator() { close(); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  Members& members() { return members_; }
  const Members& members() const { return members_; }
  FastPaths& fast_paths() { return fast_paths_; }
  CallObserver& observer() { return observer_; }
  NodeSharing& node() { return node_; }
  PlanCache& plans() { return plans_; }
  NeighbourPlans& neighbours() { return neighbours_; }
  Decisions& decisions() { return decisions_; }
  CallMemory& memory() { return memory_; }
  RecordExchange& records() { return records_; }
  Planner& planner() { return planner_; }
  Starts& starts() { return starts_; }

  MPI_Comm user() const { return members_.user(); }
  Rank ranks() const { return members_.ranks(); }
  Rank rank() const { return members_.rank(); }
  const Options& options() const { return members_.options(); }

  /// Starts the next exchange. All ranks call it for the same exchanges in the same order.
  Invocation next_exchange() { return members_.next_exchange(observer_.get()); }

  /// Whether this blocking call is left to the host MPI because it is one of the first. A communicator with few
  /// exchanges is not worth setting up. Counts the call. The same on all ranks. Local.
  bool leaves_call() { return decisions_.setup_policy().leaves_call(); }
  /// Whether the records have been exchanged, or are not needed because all calls are left to the host MPI.
  bool ready() const { return records_.known() || !members_.refusal.empty(); }
  /// Completes started exchanges and sets up the communicator. To be called before any other exchange or agreement on
  /// it. Collective.
  void be_ready() {
    finish_started();
    if (!ready()) [[unlikely]]
      records_.finish();
    starts_.prepare_wanted();
  }
  /// Waits until all started exchanges, and an exchange of records for them, are complete. During that time the
  /// application cannot free its communicator.
  void finish_started() {
    starts_.finish();
    records_.wait();
  }

  /// Replaces the chosen algorithm; without `options` by that of the environment. `valid`: whether this rank could read
  /// its arguments. Collective. Returns false, on all ranks, if a rank could not or the ranks differ. On an
  /// intercommunicator it changes nothing, is local, and returns `valid`.
  bool set_algorithm(const std::optional<Options>& options, bool valid);

  /// Sends the messages of `request`, and receives the messages for this rank, as SparseExchanges::exchange() does.
  int sparse_alltoallv(const SparseRequest& request, Arrivals& arrivals);

  /// Whether duplicates of its communicator can use this object for their exchanges (duplicates.hpp). The same on all
  /// ranks. Local.
  bool can_serve_duplicates();
  bool shared() const { return shared_; }
  void share() { shared_ = true; }

  /// Notes that an operation has failed on this rank, so that no other communicator takes this state over. Any thread.
  void has_failed() { failed_ = true; }

  /// Whether a later communicator of the same ranks may take this state over. Ranks may differ. Local.
  bool can_be_taken_over();
  /// Ends what concerns the freed communicator only, of a state that is kept. Local.
  void rest();
  /// Serves `comm`, which has the ranks of the freed communicator, if all ranks propose this state for it. `first`: as for
  /// the constructor. Returns whether they do; if not, this state must be deleted. Collective over `comm`.
  bool take_over(MPI_Comm comm, const FirstCall* first);

  /// Handles an `error` of an operation on this communicator. If a rank has died, or the application has revoked the
  /// communicator, no rank waits for another here from now on. Returns the error for the application. Local.
  int failed(int error);
  /// Ends all waiting on this communicator, because the application has revoked it or a rank has died. Local.
  void revoke();
  /// Leaves all calls to the host MPI from now on, and frees plans and memory. Collective if exchanges are under way.
  void close();

 private:
  bool concerns_ranks_only() const;

  Members members_;
  FastPaths fast_paths_;
  CallObserver observer_{members_, fast_paths_};
  NodeSharing node_;
  PlanCache plans_{members_, observer_, node_};
  NeighbourPlans neighbours_{members_, node_, plans_};
  Decisions decisions_{*this, members_, node_, plans_, neighbours_};
  CallMemory memory_;
  RecordExchange records_{members_, memory_.datatypes, observer_, node_, decisions_};
  Planner planner_{members_, observer_, node_, plans_, neighbours_, decisions_};
  SparseExchanges sparse_{members_};
  Starts starts_{*this};
  bool shared_ = false;
  std::atomic<bool> failed_{false};  ///< an operation has failed on this rank
};

}  // namespace swapmeet
