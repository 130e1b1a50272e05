/// The observation of the calls on one communicator: statistics, times of phases, a trace, recordings, the watchdog,
/// online tuning, and the check of arguments. A blocking call reports its events here and nowhere else; the executor
/// reports those of an exchange to the Observer (observe/observer.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "observe/observer.hpp"
#include "observe/record.hpp"
#include "session/call.hpp"
#include "session/checking.hpp"
#include "session/decision.hpp"
#include "session/fast_paths.hpp"
#include "session/members.hpp"

namespace swapmeet {

class CallObserver {
 public:
  /// Observes the calls of `members` as their options ask for. Local.
  CallObserver(Members& members, FastPaths& fast_paths);

  /// Whether the events of blocking calls must be reported here: calls are counted, recorded, timed, traced or watched.
  bool needs_events() const { return members_.options().statistics || recorded_ || observer_; }
  /// Whether calls are timed, traced or watched.
  bool observed() const { return observer_ != nullptr; }
  bool recorded() const { return recorded_ != nullptr; }
  /// The observer that the execution of calls reports to; nullptr: they are not observed.
  Observer* get() const { return observer_.get(); }
  /// Where the calls are published for the watchdog; nullptr: they are not watched.
  CallState* call_state() const { return observer_ ? observer_->call_state() : nullptr; }

  /// Shows the watchdog that this rank is doing `what`, until the returned object is destroyed. Work that is executed in
  /// steps is not shown: the rank does something else between them.
  [[nodiscard]] DoingNow doing(Doing what) const { return {members_.in_steps() ? nullptr : call_state(), what}; }

  // The events of a blocking call, in their order. They are collective for a call that is traced.

  /// The call begins. Requires needs_events().
  void call_begins(const Arguments& call);
  /// The decision for the call is made. `trial`: online tuning for which the call is a timed trial; nullptr if it is
  /// none. Requires needs_events(), or a trial; call_ends() follows.
  void call_decided(const Arguments& call, const Decision& decision, OnlineTuning* trial);
  /// The host MPI executes the call. Without this event an exchange of the decision does.
  void call_goes_to_host();
  /// The call is complete, wherever it was executed.
  void call_ends();

  /// Begins and ends the measurement of the phases of calls. end_phases() returns nothing if it was not begun. Local.
  void begin_phases();
  std::optional<PhaseTimes> end_phases();

  /// Traces the next call, or the call that is beginning, into `file` (significant on rank 0). Collective. Returns
  /// MPI_SUCCESS or an error of MPI, the same on all ranks.
  int trace(const char* file);
  /// Traces no call any more: tracing needs all ranks. Local.
  void trace_nothing();

  /// Records all calls from now on. Local.
  void record(Recorder& recorder);

  /// Checks the arguments of a call against those of the other ranks. Returns false on all ranks if they do not match;
  /// then rank 0 prints the mistake. Collective.
  bool check_arguments(const Arguments& mine);

  /// Tells the watchdog the number of the communicator and the processes of its ranks on this node, from their records.
  /// Local.
  void knows_processes(const std::vector<NodeRecord>& node_records);

 private:
  Observer& observe();
  void be_watched();
  void ignore();
  void trace_if_chosen();
  void write_trace(const Tally& call, std::int64_t bytes_sent);

  Members& members_;
  FastPaths& fast_paths_;
  std::unique_ptr<Observer> observer_;
  std::int64_t calls_to_trace_ = 0;           ///< number of calls up to and including the traced one; 0: none is traced
  std::int64_t checked_ = 0;                  ///< number of checked calls
  RecordedCommunicator* recorded_ = nullptr;  ///< nullptr: calls are not recorded
  /// The call under way, if it is observed.
  struct Current {
    const Decision* decision = nullptr;
    OnlineTuning* trial = nullptr;
    CallCount counted{};
    RecordedCall recorded{};
    std::uint64_t bytes_sent = 0;
    bool on_host = false;
  } call_;
};

}  // namespace swapmeet
