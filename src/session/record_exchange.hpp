/// The set-up of a communicator: the exchange of the ranks' parameters (records), which comes before anything else.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/datatype.hpp"
#include "session/call_observer.hpp"
#include "session/decisions.hpp"
#include "session/members.hpp"
#include "session/node_sharing.hpp"
#include "session/rank_records.hpp"

namespace swapmeet {

/// The arguments of an MPI_Alltoall that may be the first call on its communicator. Counts are in elements.
struct FirstCall {
  const void* send;  ///< MPI_IN_PLACE is allowed
  std::int64_t send_count;
  MPI_Datatype send_type;
  const void* receive;
  std::int64_t receive_count;
  MPI_Datatype receive_type;
};

/// The warning where ranks have different versions of the library, and what is done then.
inline constexpr const char* different_versions = "ranks have different versions of the library";
inline constexpr const char* instead_of_versions = "; using the host MPI. Preload the same file in all ranks";

/// The exchange of records of one communicator, and its effects on the other parts of the Communicator. To be used by
/// one thread at a time.
class RecordExchange {
 public:
  RecordExchange(Members& members, Datatypes& datatypes, CallObserver& observer, NodeSharing& node,
                 Decisions& decisions)
      : members_(members), datatypes_(datatypes), observer_(observer), node_(node), decisions_(decisions) {}

  /// Exchanges the records and applies the result. `first`: the MPI_Alltoall in which the communicator is set up, or
  /// nullptr; its blocks are piggybacked on the records if they are small. `in_own_function`: whether this is a call of a
  /// function of this library, which may make the communicator of the job (make_job()). Collective; waits.
  void run(const FirstCall* first = nullptr, bool in_own_function = false);
  /// Proposes that this kept state (kept_states.hpp) serve another communicator of the same ranks. Returns whether all
  /// ranks propose it; if not, the caller deletes this state and calls run() on a new one, as all other ranks do.
  /// `first`: as for run(). Collective, together with run() on ranks that propose nothing; waits.
  bool take_over(const FirstCall* first);
  /// Whether this state serves a later communicator than the one that it was made for. The same on all ranks.
  bool took_over() const { return mine_.state != RankRecord::no_state; }
  /// Whether this rank's record would say the same now. Local.
  bool still_holds() const;
  /// Starts the exchange by a non-blocking collective call of the host MPI on the application's communicator, so in the
  /// order of its collective calls. finish() completes it. If a rank has died, it sets Members::refusal instead. Throws
  /// MpiError after any other error. Local.
  void begin();
  /// Makes the exchange, or completes the one that was begun, unless the records are known. Collective; waits.
  void finish();
  /// Waits until an exchange that was begun is complete. MPI_Comm_free calls it before the communicator ends.
  /// Returns as MPI does.
  int wait();

  /// Whether run() or finish() has been called, or an exchange has failed. What they find out holds once they return.
  bool known() const { return known_; }

  /// Whether the blocks of the current call, one from each rank, have arrived piggybacked on the records. The call must
  /// then take them.
  bool has_piggybacked() const { return !piggybacked_.empty(); }
  std::vector<char> take_piggybacked() { return std::exchange(piggybacked_, {}); }

 private:
  void end();
  GatheredRecords exchange(const FirstCall* first);
  std::vector<char> blocks_to_piggyback(const FirstCall& first);
  RankRecord make_record();
  void make_job(const GatheredRecords& records, bool in_own_function);
  void apply(GatheredRecords records, bool begun);
  void fail(int error);
  void refuse_strangers(const GatheredRecords& records);
  void leave_devices_alone(std::string_view driver);

  Members& members_;
  Datatypes& datatypes_;
  CallObserver& observer_;
  NodeSharing& node_;
  Decisions& decisions_;
  bool known_ = false;
  RankRecord mine_;  ///< this rank's record as last sent; stays in place while `arrival_` is under way
  /// Records of all ranks, while an exchange that was begun is under way (empty: none is), and its request.
  std::vector<RankRecord> gathered_;
  MPI_Request arrival_ = MPI_REQUEST_NULL;
  int arrival_error_ = MPI_SUCCESS;  ///< with which that exchange has failed
  std::vector<char> piggybacked_;
};

}  // namespace swapmeet
