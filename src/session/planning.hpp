/// The planning of exchanges that the application starts many times: plans of the library's own API, and persistent
/// requests of MPI.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "choose/select.hpp"
#include "session/call_observer.hpp"
#include "session/decisions.hpp"
#include "session/members.hpp"
#include "session/neighbour_plans.hpp"
#include "session/node_sharing.hpp"
#include "session/plan_cache.hpp"
#include "session/planned.hpp"

namespace swapmeet {

class Planner {
 public:
  Planner(Members& members, const CallObserver& observer, NodeSharing& node, PlanCache& plans,
          NeighbourPlans& neighbours, Decisions& decisions)
      : members_(members), observer_(observer), node_(node), plans_(plans), neighbours_(neighbours),
        decisions_(decisions) {}

  /// Plans an exchange by `options` (none: those of the communicator). `problem`: why `call` is missing on this
  /// rank, or "". Collective; may wait. Returns nullptr on all ranks if one has a problem; on an intercommunicator only
  /// on ranks with a problem. Then `error` and `problem` describe it.
  std::unique_ptr<Planned> plan(std::unique_ptr<KeptCall> call, const std::optional<Options>& options,
                                std::string& problem, int& error);

  /// Plans an exchange for a persistent request, by the options of the communicator. Collective. Returns nullptr on all
  /// ranks if the host MPI serves the request.
  std::unique_ptr<Planned> plan_persistent(std::unique_ptr<KeptCall> call);

  /// Ends all waiting in exchanges that were planned here. Local.
  void revoke();

  /// Announces to the exchanges that were planned here that the application has freed the communicator.
  void outlives_communicator();

 private:
  int agree_to_plan(std::uint64_t asked_for, PlanTeam& team);

  /// Makes a plan that executes `choice`. `for_request`: the plan is for a persistent request. Then its starts may be
  /// trials, and a plan that would only call the host MPI is a problem, because the host MPI then serves the request
  /// itself. `team`: the ranks of the plan. Collective. Returns nullptr on all ranks if there is a problem.
  std::unique_ptr<Planned> make_planned(std::unique_ptr<KeptCall> call, Choice choice, bool for_request,
                                        std::shared_ptr<PlanTeam> team, std::string& problem, int& error);
  /// Prepares starts of a plan to try single_step(), where it may be faster. Collective.
  void try_single_step(PreparedExchange& prepared, const Arguments& call);

  /// The choice for a plan of `call` by the options `wanted`. Collective.
  Choice choice_for(const Arguments& call, const Options& wanted);

  /// Makes the exchange of a plan of `team`. `exchanges`: number of exchanges of the plan so far, which agreements
  /// increase. Collective.
  PreparedExchange prepare(Choice choice, const Arguments& call, PlanTeam& team, std::uint16_t& exchanges);

  /// The expected time of such an exchange in seconds, by the description of the machine on which choices rest;
  /// negative if it cannot be priced. Unequal blocks count by the mean of those that this rank sends. Local.
  double expected_seconds(const Spec& spec, const Arguments& call) const;

  Members& members_;
  const CallObserver& observer_;
  NodeSharing& node_;
  PlanCache& plans_;
  NeighbourPlans& neighbours_;
  Decisions& decisions_;
  /// The teams of plans that revoke() must end. Kept only where the host MPI survives faults.
  std::vector<std::weak_ptr<PlanTeam>> planned_;
};

}  // namespace swapmeet
