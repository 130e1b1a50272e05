#include "session/call_observer.hpp"

#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

#include "team/agreement.hpp"
#include "session/context.hpp"
#include "mpi/report.hpp"
#include "observe/trace_file.hpp"
#include "schedule/output_file.hpp"

namespace swapmeet {

CallObserver::CallObserver(Members& members, FastPaths& fast_paths) : members_(members), fast_paths_(fast_paths) {
  const Options& options = members_.options();
  const bool many = members_.ranks() > 1, refused = !members_.refusal.empty();
  if (options.phases) observe();
  if (!options.trace.file.empty() && !members_.inter && (!many || !refused)) {
    calls_to_trace_ = options.trace.call;
    observe();
  }
  if (context().watchdog.on() && (many || members_.inter)) be_watched();
}

Observer& CallObserver::observe() {
  if (!observer_) observer_ = std::make_unique<Observer>();
  fast_paths_.clear();  // fast paths skip the observer
  return *observer_;
}

void CallObserver::trace_nothing() {
  calls_to_trace_ = 0;
  ignore();
}

/// Deletes the observer if calls are no longer timed, traced or watched.
void CallObserver::ignore() {
  if (observer_ && !members_.options().phases && !observer_->call_state() && calls_to_trace_ == 0 &&
      !observer_->begun() && !observer_->trace())
    observer_.reset();
}

void CallObserver::begin_phases() { observe().begin(); }

std::optional<PhaseTimes> CallObserver::end_phases() {
  std::optional<PhaseTimes> times;
  if (observer_) times = observer_->end();
  ignore();
  return times;
}

int CallObserver::trace(const char* name) {
  if (members_.inter) return MPI_ERR_COMM;
  if (members_.shape.ranks > 1 && !members_.has_messages()) return MPI_ERR_OTHER;
  int error = MPI_SUCCESS;
  std::FILE* file = nullptr;
  if (members_.rank() == 0 && !name) error = MPI_ERR_ARG;
  if (members_.rank() == 0 && name) {
    const Result<std::FILE*> opened = open_output_stream(name);
    if (opened) file = *opened;
    else {
      error = MPI_ERR_FILE;
      say_once("warning: the trace cannot be written to " + std::string(name) + ": " + opened.problem().text());
    }
  }
  std::unique_ptr<Trace> trace;
  try {
    trace = std::make_unique<Trace>();
  } catch (const std::bad_alloc&) { error = MPI_ERR_NO_MEM; }
  if (members_.shape.ranks > 1) allreduce(std::span(&error, 1), MPI_INT, MPI_MAX, *members_.team);
  if (error == MPI_SUCCESS) observe().record(std::move(trace), file);
  else if (file) std::fclose(file);
  return error;
}

/// Traces the call if no other was traced before. One call of the job is traced. Its communicator contains rank 0 of
/// MPI_COMM_WORLD.
void CallObserver::trace_if_chosen() {
  int ours = reports().world_rank == 0 && !context().traced.exchange(true);
  allreduce(std::span(&ours, 1), MPI_INT, MPI_MAX, *members_.team);
  if (!ours) return;
  if (members_.shape.ranks == 1 || members_.has_messages()) trace(members_.options().trace.file.c_str());
  else if (members_.rank() == 0) say_once("warning: the call is not traced: " + std::string(no_messages));
}

void CallObserver::record(Recorder& recorder) {
  const bool alone = members_.number == UINT64_MAX;  // its ranks have exchanged no records
  const bool shared = !members_.inter && (alone ? members_.ranks() == 1 : members_.refusal.empty());
  const std::uint64_t number = alone ? context().number_of_communicator() : members_.number;
  fast_paths_.clear();
  recorded_ = recorder.add(members_.user(), members_.ranks(), members_.inter, number, shared);
}

bool CallObserver::check_arguments(const Arguments& mine) {
  if (!members_.refusal.empty()) return true;  // not all ranks may have the check switched on
  if (CallState* const to = call_state()) to->checks(mine.collective);
  const auto now = doing(Doing::checking);
  ++checked_;
  const std::string mistake = mistake_of_ranks(mine, *members_.team);
  if (!mistake.empty() && members_.rank() == 0)
    say("error: call " + std::to_string(checked_) + " of MPI_" + std::string(name_of(mine.collective)) + " on " +
        std::to_string(members_.shape.ranks) + " ranks: " + mistake);
  return mistake.empty();
}

void CallObserver::be_watched() {
  Watchdog& watchdog = context().watchdog;
  if (OwnCallState post = watchdog.take(watched_communicator(members_.user()))) observe().publish(std::move(post));
}

void CallObserver::knows_processes(const std::vector<NodeRecord>& node_records) {
  if (!call_state()) return;
  CallState::set(call_state()->number, static_cast<std::int64_t>(members_.number));
  if (members_.hosts.empty()) return;
  const std::vector<int>& world_ranks = *members_.team->job_ranks();
  const auto me = static_cast<std::size_t>(members_.rank());
  for (std::size_t rank = 0; rank < members_.hosts.size(); ++rank)
    if (members_.hosts[rank] == members_.hosts[me] &&
        node_records[rank].process_namespace == node_records[me].process_namespace &&
        node_records[me].process_namespace != 0)
      context().watchdog.knows_process(world_ranks[rank], node_records[rank]);
}

void CallObserver::call_begins(const Arguments& call) {
  call_ = {};
  if (recorded_) {
    const bool derived = !call.send.contiguous() || !call.receive.contiguous();
    call_.recorded = context().recorder.call_begins(*recorded_, call.collective, call.in_place, derived, call.send);
  }
  if (!observer_) return;
  if (calls_to_trace_ > 0 && --calls_to_trace_ == 0) {
    const auto now = doing(Doing::agreeing);
    trace_if_chosen();
  }
  observer_->call_begins(call.collective);
}

void CallObserver::call_decided(const Arguments& call, const Decision& decision, OnlineTuning* trial) {
  if (!needs_events()) call_ = {};  // call_begins() was not called
  call_.decision = &decision;
  call_.trial = trial;
  if (members_.options().statistics) call_.counted.begin(call);
  if (!observer_) return;
  call_.bytes_sent = call.sent_bytes();
  if (call_state())
    observer_->call_decided(decision.tally(), call_.bytes_sent, decision.exchange ? Doing::exchanging : Doing::host);
}

void CallObserver::call_goes_to_host() {
  call_.on_host = true;
  if (observer_) observer_->call_goes_to_host();
}

void CallObserver::call_ends() {
  const Current call = std::exchange(call_, {});
  const Decision& decision = *call.decision;
  const bool counts = members_.options().statistics;
  if (call.trial) call.trial->ends();
  call.recorded.ends();
  if (!observer_) {
    if (counts) call.counted.end(decision.tally());
  } else {
    const PhaseTimes times = observer_->stop();
    if (observer_->trace()) write_trace(decision.tally(), static_cast<std::int64_t>(call.bytes_sent));
    observer_->call_ends();
    ignore();
    if (counts)
      call.counted.end(decision.tally(), std::accumulate(times.begin(), times.end(), std::chrono::nanoseconds{}));
    if (counts && members_.options().phases) decision.tally().add_phases(times);
  }
  if (counts && decision.sized && !call.on_host)
    decision.tally().add_traffic(decision.sized->last_traffic(), decision.sized->peak_bytes());
}

void CallObserver::write_trace(const Tally& call, std::int64_t bytes_sent) {
  TracedCall traced{std::string(name_of(call.collective)), call.algorithm, call.reason, members_.shape.ranks,
                    std::vector<std::int32_t>(static_cast<std::size_t>(members_.shape.ranks), 0)};
  if (members_.shape.ranks > 1 && members_.find_nodes().empty()) traced.nodes = members_.shape.hierarchy.front();
  collect_trace(*observer_->trace(), traced, bytes_sent, *members_.team, observer_->file());
  if (const std::string problem = observer_->written(); !problem.empty())
    say_once("warning: the trace could not be written to the end: " + problem);
}

}  // namespace swapmeet
