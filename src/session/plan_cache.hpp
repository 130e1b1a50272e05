/// The plans of one communicator: each executes the exchanges by one spec.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "algorithms/generate.hpp"
#include "exchange/plan.hpp"
#include "exchange/sized_plan.hpp"
#include "session/call_observer.hpp"
#include "session/context.hpp"
#include "session/members.hpp"
#include "session/node_sharing.hpp"
#include "session/topology_orders.hpp"

namespace swapmeet {

class PlanCache {
 public:
  PlanCache(const Members& members, const CallObserver& observer, NodeSharing& node)
      : members_(members), observer_(observer), node_(node) {}

  /// The plan of `spec`, for blocks whose sizes both ends know, or only one. It is made if it is new; then the call is
  /// collective. Returns nullptr on all ranks if one lacks memory for it, or if it cannot be executed.
  Plan* plan_for(const Spec& spec);
  SizedPlan* sized_plan_for(const Spec& spec);

  /// Makes a plan that is not kept here. `node_peers`: the memory that it uses within the node. Local.
  std::unique_ptr<Plan> make(const Spec& spec, NodePeers* node_peers) const;
  /// The same for blocks whose sizes only one end knows. `waits`: whether its exchanges may wait, and so call the host
  /// MPI's MPI_Alltoall. Returns nullptr if the plan has too many messages to number.
  std::unique_ptr<SizedPlan> make_sized(const Spec& spec, NodePeers* node_peers, bool waits = true) const;

  /// Joins the ranks of each node, once, and makes a plan of `likely`, the probable next choice, in the same step.
  /// Collective on the first call.
  void join(const Spec& likely);

  /// Makes the topology order that `spec` asks for, if any; then collective. Returns "", or why it cannot be made.
  std::string make_order_of(const Spec& spec);

  /// Frees all plans. Local.
  void clear();

 private:
  std::shared_ptr<const Schedule> schedule_of(const Spec& spec) const {
    return std::make_shared<const Schedule>(generate(spec, orders_.shape_for(spec, members_.shape), members_.rank));
  }

  const Members& members_;
  const CallObserver& observer_;
  NodeSharing& node_;
  Orders orders_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<std::unique_ptr<SizedPlan>> sized_plans_;
};

}  // namespace swapmeet
