#include "session/plan_cache.hpp"

#include <new>
#include <utility>

#include "algorithms/generate.hpp"
#include "mpi/report.hpp"
#include "session/started_tuning.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

Exchange* PlanCache::find(const ExchangeKind& kind) {
  for (const Kept& known : kept_)
    if (known.of_neighbours == (kind.neighbours != nullptr) && known.sized == kind.sized &&
        known.exchange->spec() == kind.spec)
      return known.exchange.get();
  std::unique_ptr<Exchange> made = prepare(kind, node_);
  if (!made) return nullptr;
  kept_.push_back({kind.neighbours != nullptr, kind.sized, std::move(made)});
  return kept_.back().exchange.get();
}

std::unique_ptr<Exchange> PlanCache::prepare(const ExchangeKind& kind, NodeSharing& memory, bool waits) {
  constexpr std::int64_t none = NodePeers::unprepared;
  std::unique_ptr<Exchange> made;
  const auto make = [&](NodePeers* node_peers) {
    kept_.reserve(kept_.size() + 1);  // here, where the ranks agree on a lack of memory
    if (kind.spec.intra == Transport::mpi) node_peers = nullptr;
    if (kind.sized) made = make_sized(kind, node_peers, waits);
    else made = make_plan(kind, node_peers);
    return made ? made->working_blocks() : none;
  };
  std::int64_t most = none;
  if (kind.spec.intra != Transport::mpi && !memory.joined()) {
    const auto now = observer_.doing(Doing::sharing_memory);
    most = memory.join(members_, make);
  } else {
    try {
      most = make(memory.peers());
    } catch (const std::bad_alloc&) {}
    most = most_of_any_rank(most, *members_.team);
  }
  if (most == none) return nullptr;
  made->share_working_blocks(most);
  return made;
}

std::unique_ptr<Plan> PlanCache::make_plan(const ExchangeKind& kind, NodePeers* node_peers) const {
  const Spec& spec = kind.spec;
  Schedule schedule = kind.neighbours ? generate(spec, *kind.neighbours->own)
                                      : generate(spec, orders_.shape_for(spec, members_.shape), members_.rank());
  return std::make_unique<Plan>(spec, std::move(schedule), node_peers);
}

/// Returns nullptr if there are too many messages to number, or if this rank does not know the neighbours of its node
/// peers.
std::unique_ptr<SizedPlan> PlanCache::make_sized(const ExchangeKind& kind, NodePeers* node_peers, bool waits) const {
  const Spec& spec = kind.spec;
  const KnownNeighbours* const among = kind.neighbours;
  if (among && !among->node) return nullptr;
  const Forwarding forwarded = among ? Forwarding{} : forwarding(spec, members_.shape);
  if (spec.sizes == Sizes::padded) {
    // The host MPI cannot serve started exchanges: see Decisions::by_messages().
    const bool by_host = spec.family == Family::native;
    std::unique_ptr<Plan> padded =
        by_host && waits ? nullptr : make_plan({by_host ? single_step() : spec}, by_host ? nullptr : node_peers);
    return std::make_unique<SizedPlan>(spec, members_.ranks(), members_.rank(), forwarded, std::move(padded));
  }
  Flow travels = among ? flow(spec, *among->node, members_.rank())
                       : flow(spec, orders_.shape_for(spec, members_.shape), members_.rank());
  const std::int64_t working_blocks = peak_blocks(travels);
  auto made = std::make_unique<SizedPlan>(spec, std::move(travels), forwarded, working_blocks, node_peers,
                                          among ? among->own.get() : nullptr);
  return made->fits(members_.team->tags()) ? std::move(made) : nullptr;
}

void PlanCache::join(const ExchangeKind& likely) {
  if (node_.joined()) return;
  if (likely.spec.intra != Transport::mpi && likely.spec.order != Order::topology) {
    find(likely);
    return;
  }
  const auto now = observer_.doing(Doing::sharing_memory);
  node_.join(members_, [](NodePeers*) { return NodePeers::unprepared; });
}

std::string PlanCache::make_order_of(const Spec& spec) {
  if (spec.order != Order::topology || !members_.has_messages()) return "";  // no exchange would be executed
  const MadeOrder& made = *orders_.find(spec, members_.shape, *members_.team);
  if (made.problem.empty() && members_.options().explain && members_.rank() == 0)
    say_once("order for " + std::to_string(members_.ranks()) + " ranks by " + made.source.network + ": " +
             made.summary);
  return made.problem;
}

}  // namespace swapmeet
