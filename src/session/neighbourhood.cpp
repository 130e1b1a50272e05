/// What a Communicator does for exchanges with the neighbours of its virtual topology. Each rank knows only its own
/// neighbours; what is decided rests on what all share, and on the most blocks of any rank, on which they agree once.
#include "algorithms/neighbours.hpp"
#include "choose/neighbours.hpp"
#include "mpi/neighbourhood.hpp"
#include "session/communicator.hpp"
#include "session/made_everywhere.hpp"

namespace swapmeet {

const std::shared_ptr<const Neighbourhood>& Communicator::shared_neighbourhood() {
  if (!std::exchange(looked_for_neighbours_, true) && !inter_)
    if (std::optional<Neighbourhood> found = neighbourhood_of(user_, shape_.ranks, rank_))
      neighbourhood_ = std::make_shared<const Neighbourhood>(*std::move(found));
  return neighbourhood_;
}

Choice Communicator::choose_for_neighbours() {
  const std::string unknown = wants_nodes(shape_, options_) ? find_nodes() : "";
  if (!unknown.empty()) return {Spec{}, unknown};
  const Choice hoped_for = swapmeet::choose_for_neighbours(shape_, options_, {true, true}, host_is_mpich);
  if (hoped_for.spec.intra == Transport::mpi) return hoped_for;
  join(Spec{});
  return swapmeet::choose_for_neighbours(shape_, options_, means_, host_is_mpich);
}

std::unique_ptr<Plan> Communicator::make_plan_for_neighbours(const Spec& spec, Neighbours* within_node) const {
  return std::make_unique<Plan>(spec, generate(spec, *neighbourhood_),
                                spec.intra == Transport::mpi ? nullptr : within_node, tags_);
}

bool Communicator::few_requests(const Plan& plan) const {
  if (plan.spec().intra != Transport::mpi && nodes() == 1) return true;
  const std::int64_t window = plan.spec().window, most = plan.working_blocks();
  return (window > 0 ? std::min(2 * window, most) : most) <= options_.request_limit;
}

void Communicator::decide_for_neighbours(Decision& decision) {
  const Choice choice = choose_for_neighbours();
  decision.reason = choice.reason;
  if (choice.spec.family == Family::native) return;
  const auto leave_to_host = [&decision](const char* why) { decision.reason = why; };
  const bool by_mpi = choice.spec.intra == Transport::mpi || nodes() > 1;
  if (by_mpi && !make_ours()) return leave_to_host("MPI has no communicator left for us");
  Plan* const plan = find_or_make(neighbour_plans_, choice.spec, [&] {
    return made_everywhere(agreeing(), [&] { return make_plan_for_neighbours(choice.spec, neighbours_.get()); });
  });
  if (!plan) return leave_to_host(no_plan);
  if (!few_requests(*plan)) return leave_to_host(too_many_requests);
  decision.exchange = decision.plan = plan;
}

}  // namespace swapmeet
