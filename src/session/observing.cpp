/// Member functions of Communicator that time, trace, watch and check its calls.
#include <cerrno>
#include <cstring>

#include "team/agreement.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"
#include "mpi/report.hpp"
#include "mpi/world_ranks.hpp"
#include "observe/trace_collect.hpp"
#include "schedule/output_file.hpp"

namespace swapmeet {

Observer& Communicator::observe() {
  if (!observer_) observer_ = std::make_unique<Observer>();
  decide_anew();  // fast paths skip the observer
  return *observer_;
}

void Communicator::ignore() {
  if (observer_ && !options_.phases && !observer_->post() && calls_to_trace_ == 0 && !observer_->begun() &&
      !observer_->trace())
    observer_.reset();
}

void Communicator::begin_phases() { observe().begin(); }

std::optional<PhaseTimes> Communicator::end_phases() {
  std::optional<PhaseTimes> times;
  if (observer_) times = observer_->end();
  ignore();
  return times;
}

int Communicator::trace(const char* name) {
  if (inter_) return MPI_ERR_COMM;
  if (shape_.ranks > 1 && !has_messages()) return MPI_ERR_OTHER;
  int error = MPI_SUCCESS;
  std::FILE* file = nullptr;
  if (rank_ == 0 && !name) error = MPI_ERR_ARG;
  if (rank_ == 0 && name) {
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
  if (shape_.ranks > 1) reduce(std::span(&error, 1), MPI_INT, MPI_MAX, peers_);
  if (error == MPI_SUCCESS) observe().record(std::move(trace), file);
  else if (file) std::fclose(file);
  return error;
}

/// Traces the call if no other was traced before. One call of the job is traced. Its communicator contains rank 0 of
/// MPI_COMM_WORLD.
void Communicator::trace_if_chosen() {
  int ours = reports().world_rank == 0 && !context().traced.exchange(true);
  reduce(std::span(&ours, 1), MPI_INT, MPI_MAX, user_);
  if (!ours) return;
  if (shape_.ranks == 1 || has_messages()) trace(options_.trace.file.c_str());
  else if (rank_ == 0) say_once("warning: the call is not traced: " + std::string(no_messages));
}

bool Communicator::check_arguments(const CheckedCall& mine) {
  if (!refusal_.empty()) return true;  // not all ranks may have the check switched on
  if (Post* const to = post()) to->checks(mine.collective);
  const auto now = doing(Doing::checking);
  ++checked_;
  const std::string mistake = mistake_of_ranks(mine, user_);
  if (!mistake.empty() && rank_ == 0)
    say("error: call " + std::to_string(checked_) + " of MPI_" + std::string(name_of(mine.collective)) + " on " +
        std::to_string(shape_.ranks) + " ranks: " + mistake);
  return mistake.empty();
}

void Communicator::be_watched() {
  Watchdog& watchdog = context().watchdog;
  if (Post* const post = watchdog.take(party_of(user_))) observe().publish(&watchdog, post);
}

/// Tells the watchdog the processes of the ranks on this node, from the gathered records.
void Communicator::register_processes_with_watchdog() {
  Post::set(post()->number, static_cast<std::int64_t>(number_));
  if (hosts_.empty()) return;
  const std::vector<int> world_ranks = world_ranks_of(user_);
  const auto me = static_cast<std::size_t>(rank_);
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank)
    if (hosts_[rank] == hosts_[me] && node_records_[rank].process_namespace == node_records_[me].process_namespace &&
        node_records_[me].process_namespace != 0)
      context().watchdog.knows_process(world_ranks[rank], node_records_[rank]);
}

void Communicator::call_begins(Collective collective) {
  if (Post* const to = post()) to->call_begins(collective);
  if (calls_to_trace_ > 0 && --calls_to_trace_ == 0) trace_if_chosen();
  observer_->call_begins();
}

void Communicator::call_decided(const Decision& decision, std::uint64_t bytes_sent) {
  Post* const to = post();
  if (!to) return;
  Post::set(to->tally, static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&decision.tally())));
  Post::set(to->bytes, static_cast<std::int64_t>(bytes_sent));
  to->does(decision.exchange ? Doing::exchanging : Doing::host);
}

void Communicator::call_goes_to_host() {
  clock()->enter(CallPhase::native);
  if (Post* const to = post()) to->does(Doing::host);
}

PhaseTimes Communicator::call_ends(const Decision& decision, std::uint64_t bytes_sent) {
  const PhaseTimes times = observer_->call_ends();
  if (observer_->trace()) write_trace(decision.tally(), static_cast<std::int64_t>(bytes_sent));
  if (Post* const to = post()) to->call_ends();
  ignore();
  return times;
}

void Communicator::write_trace(const Tally& call, std::int64_t bytes_sent) {
  TracedCall traced{std::string(name_of(call.collective)), call.algorithm, call.reason, shape_.ranks,
                    std::vector<std::int32_t>(static_cast<std::size_t>(shape_.ranks), 0)};
  if (shape_.ranks > 1 && find_nodes().empty()) traced.nodes = shape_.hierarchy.front();
  collect_trace(*observer_->trace(), traced, bytes_sent, team_.get(), rank_, observer_->file());
  if (const std::string problem = observer_->written(); !problem.empty())
    say_once("warning: the trace could not be written to the end: " + problem);
}

}  // namespace swapmeet
