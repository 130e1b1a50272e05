/// Exchanges with the neighbours of a communicator's virtual topology. Each rank knows only its own neighbours.
/// Decisions are based on facts that all ranks share, and on the largest number of blocks of any rank, on which the
/// ranks agree once. If blocks are forwarded, the ranks of a node know the neighbours of their node peers.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "algorithms/neighbours.hpp"
#include "choose/neighbours.hpp"
#include "choose/select.hpp"
#include "model/neighbour_work.hpp"
#include "session/decision.hpp"
#include "session/members.hpp"
#include "session/plan_cache.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// Reason why a call is left to the host MPI.
inline constexpr const char* too_many_requests =
    "a rank has more messages in flight than SWAPMEET_REQUEST_LIMIT allows";

class NeighbourPlans {
 public:
  NeighbourPlans(Members& members, NodeSharing& node, PlanCache& plans)
      : members_(members), node_(node), plans_(plans) {}

  /// This rank's neighbours in the virtual topology of the communicator; nullptr on all ranks if it has none. Local.
  const Neighbourhood* neighbourhood() { return shared_neighbourhood().get(); }
  const std::shared_ptr<const Neighbourhood>& shared_neighbourhood();

  /// Whether nothing here depends on the virtual topology yet. Local.
  bool untouched() const { return !looked_for_neighbours_; }

  /// The choice for exchanges with neighbours. Collective on the first call.
  Choice choose();
  /// Makes the exchange of `spec` for `decision`. Collective. Returns "", or why there is none.
  std::string execute_by(const Spec& spec, Decision& decision);
  /// The neighbours of this rank and of its node peers, as far as they are known.
  const KnownNeighbours& known() const { return known_; }
  /// Whether no rank has more messages of such a plan in flight than SWAPMEET_REQUEST_LIMIT allows.
  bool few_requests(const Exchange& plan) const;

  /// Counts the blocks and messages that exchanges with neighbours cost each rank, once. Collective on the first call.
  void count_work();
  const NeighbourWork* work() const { return work_ ? &*work_ : nullptr; }  ///< nullptr: not counted
  /// Number of blocks that all ranks together send to their neighbours; 0: not counted.
  double blocks() const { return work_ ? work_->blocks : 0; }

 private:
  std::string gather_node_neighbourhoods();

  Members& members_;
  NodeSharing& node_;
  PlanCache& plans_;
  KnownNeighbours known_;
  bool looked_for_neighbours_ = false;
  /// Result of gather_node_neighbourhoods(); nothing: not called yet.
  std::optional<std::string> gathered_;
  std::optional<NeighbourWork> work_;
};

}  // namespace swapmeet
