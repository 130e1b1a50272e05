#include "session/communicator.hpp"

#include "mpi/faults.hpp"
#include "session/left_calls.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

Communicator::Communicator(MPI_Comm user, const Options& options, SetUp set_up, const FirstCall* first)
    : members_((begin_to_serve(), user), options) {
  if (members_.refusal.empty()) {
    SetupPolicy& policy = decisions_.setup_policy();
    const int left = end_leaving_unobserved(user);
    policy.were_left(left);
    if (set_up == SetUp::after_first_calls || left > 0) policy.leave(first_calls_of(user, options) - left);
    if (set_up != SetUp::later && !policy.leaves_more()) records_.run(first, set_up == SetUp::now);
    if (!members_.refusal.empty()) observer_.trace_nothing();
  }
  if (options.recording() && ready()) observer_.record(context().recorder);
}

bool Communicator::set_algorithm(const std::optional<Options>& options, bool valid) {
  const Options& wanted = options ? *options : context().options;
  if (!same_everywhere(valid ? wanted.fingerprint() : 0, members_.user) || !valid) return false;
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

/// Local: find_nodes() needs no other rank, because the hosts are known.
bool Communicator::can_serve_duplicates() {
  return records_.known() && members_.refusal.empty() && !members_.threaded && !members_.observed &&
         !observer_.recorded() && !members_.options().check && !members_.hosts.empty() &&
         members_.find_nodes().empty() && members_.nodes() == 1;
}

int Communicator::failed(int error) {
  if (CallState* const watched = observer_.call_state()) watched->call_ends();
  if (!members_.ended && (is_fault(error) || node_.lost_a_rank())) revoke();
  return members_.ended ? fault_on(members_.user) : error;
}

void Communicator::revoke() {
  members_.ended = true;
  if (members_.team) members_.team->end();
  node_.end();
  planner_.revoke();
}

void Communicator::close() {
  finish_started();
  decisions_.remember();
  starts_.close();
  if (members_.team) members_.team->called(MPI_COMM_NULL);
  members_.refusal = "MPI_Finalize has been called";
  fast_paths_.clear();
  decisions_.clear();
  plans_.clear();
  neighbours_.clear();
  sparse_.clear();
  node_.leave();
}

}  // namespace swapmeet
