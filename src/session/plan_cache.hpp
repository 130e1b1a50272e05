/// The exchanges of one communicator: each executes calls by one spec.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "algorithms/neighbours.hpp"
#include "exchange/plan.hpp"
#include "exchange/sized_plan.hpp"
#include "session/call_observer.hpp"
#include "session/context.hpp"
#include "session/members.hpp"
#include "session/node_sharing.hpp"
#include "session/topology_orders.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// Reason for a missing exchange.
inline constexpr const char* no_plan = "a rank has no memory for the plan, or it has too many messages to number";

/// The neighbours in the virtual topology of a communicator, as far as this rank knows them.
struct KnownNeighbours {
  std::shared_ptr<const Neighbourhood> own{};        ///< this rank's; nullptr: there is no topology
  std::unique_ptr<const NodeNeighbourhoods> node{};  ///< those of its node peers, too; nullptr: not gathered
};

/// What an exchange is made for.
struct ExchangeKind {
  const Spec& spec;
  bool sized = false;  ///< only one end knows the sizes of blocks: the exchange is a SizedPlan, otherwise a Plan
  const KnownNeighbours* neighbours = nullptr;  ///< of an exchange with neighbours; nullptr: with all ranks
};

class PlanCache {
 public:
  PlanCache(const Members& members, const CallObserver& observer, NodeSharing& node)
      : members_(members), observer_(observer), node_(node) {}

  /// The exchange of `kind`. It is made if it is new; then the call is collective. Returns nullptr on all ranks if one
  /// lacks memory for it, or if it cannot be executed.
  Exchange* find(const ExchangeKind& kind);

  /// Makes an exchange that is not kept here, in `memory`. If the ranks of nodes have not joined there, they do so in the
  /// same step. `waits`: whether the exchange may wait, and so call the host MPI's MPI_Alltoall. Collective. Returns
  /// nullptr as find() does.
  std::unique_ptr<Exchange> prepare(const ExchangeKind& kind, NodeSharing& memory, bool waits = true);

  /// Joins the ranks of each node, once, and makes the exchange of `likely`, the probable next choice, in the same step
  /// unless that is the host MPI or needs a topology order. Collective on the first call.
  void join(const ExchangeKind& likely);
  /// Joins them without making an exchange.
  void join() { join({Spec{}}); }

  /// Makes the topology order that `spec` asks for, if any; then collective. Returns "", or why it cannot be made.
  std::string make_order_of(const Spec& spec);

  /// Frees all exchanges. Local.
  void clear() { kept_.clear(); }

 private:
  struct Kept {
    bool of_neighbours, sized;
    std::unique_ptr<Exchange> exchange;
  };
  std::unique_ptr<Plan> make_plan(const ExchangeKind& kind, NodePeers* node_peers) const;
  std::unique_ptr<SizedPlan> make_sized(const ExchangeKind& kind, NodePeers* node_peers, bool waits) const;

  const Members& members_;
  const CallObserver& observer_;
  NodeSharing& node_;
  Orders orders_;
  std::vector<Kept> kept_;
};

}  // namespace swapmeet
