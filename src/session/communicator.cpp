#include "session/communicator.hpp"

#include "mpi/faults.hpp"
#include "mpi/simulation.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

Communicator::Communicator(MPI_Comm user, const Options& options, SetUp set_up, const SetupPolicy& calls,
                           const FirstCall* first)
    : members_((begin_to_serve(), user), options) {
  if (members_.refusal.empty()) {
    decisions_.setup_policy() = calls;
    if (set_up != SetUp::later && !calls.leaves_more()) records_.run(first, set_up == SetUp::now);
    if (!members_.refusal.empty()) observer_.trace_nothing();
  }
  if (options.recording() && ready()) observer_.record(context().recorder);
}

bool Communicator::set_algorithm(const std::optional<Options>& options, bool valid) {
  if (members_.inter) return valid;  // all calls are left to the host MPI, and the two groups share no agreement
  const Options& wanted = options ? *options : context().options;
  if (!same_everywhere(valid ? wanted.fingerprint() : 0, *members_.team) || !valid) return false;
  members_.set_options(options);
  members_.was_set = options.has_value();
  if (options) {
    decisions_.setup_policy().end();
    starts_.expect_calls();
  }
  fast_paths_.clear();
  starts_.decide_anew();
  decisions_.clear();
  sparse_.clear();
  return true;
}

int Communicator::sparse_alltoallv(const SparseRequest& request, Arrivals& arrivals) {
  const int error = sparse_.exchange(request, arrivals);
  return error ? failed(error) : MPI_SUCCESS;
}

/// Whether this state holds for all communicators of its ranks, as far as calls are observed. Local.
bool Communicator::concerns_ranks_only() const {
  return records_.known() && members_.refusal.empty() && !members_.observed && !observer_.recorded() &&
         !members_.options().check;
}

/// Local: find_nodes() needs no other rank, because the hosts are known.
bool Communicator::can_serve_duplicates() {
  return concerns_ranks_only() && !members_.threaded && !members_.hosts.empty() && members_.find_nodes().empty() &&
         members_.nodes() == 1;
}

bool Communicator::can_be_taken_over() {
  constexpr int many_teams = 8 * KeptStates::most;  // kept states do not use up the numbers of teams
  if (simulated || survives_faults || failed_ || members_.ended || !concerns_ranks_only() || observer_.observed())
    return false;
  // Where records are only reduced, no rank sees what the others propose.
  return members_.gathers() && members_.nodes() == 1 && members_.has_messages() &&
         context().job.tags().teams() >= many_teams && !members_.has_own_options() && members_.device.empty() &&
         !members_.options().explain && neighbours_.untouched() && node_.peers() && !node_.peers()->broken() &&
         records_.still_holds();
}

void Communicator::rest() {
  finish_started();
  starts_.close();
  shared_ = false;
  members_.team->set_user_comm(MPI_COMM_NULL);
}

bool Communicator::take_over(MPI_Comm comm, const FirstCall* first) {
  members_.team->set_user_comm(comm);
  fast_paths_.clear();  // they skip serve(), which delivers the piggybacked blocks
  return records_.take_over(first);
}

int Communicator::failed(int error) {
  has_failed();
  if (CallState* const watched = observer_.call_state()) watched->call_ends();
  if (!members_.ended && (is_fault(error) || node_.lost_a_rank())) revoke();
  return members_.ended ? fault_on(members_.user()) : error;
}

void Communicator::revoke() {
  members_.ended = true;
  members_.team->give_up();
  node_.end();
  starts_.revoke();
  planner_.revoke();
}

void Communicator::close() {
  finish_started();
  decisions_.remember();
  starts_.close();
  planner_.outlives_communicator();
  members_.refusal = "MPI_Finalize has been called";
  fast_paths_.clear();
  decisions_.clear();
  plans_.clear();
  sparse_.clear();
  node_.leave();
}

}  // namespace swapmeet
