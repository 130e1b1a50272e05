#include "session/plan_cache.hpp"

#include <utility>

#include "mpi/report.hpp"
#include "session/made_everywhere.hpp"

namespace swapmeet {

Plan* PlanCache::plan_for(const Spec& spec) {
  return find_or_make(plans_, spec, members_.peers, [&] { return make(spec, node_.peers()); });
}

SizedPlan* PlanCache::sized_plan_for(const Spec& spec) {
  return find_or_make(sized_plans_, spec, members_.peers, [&] { return make_sized(spec, node_.peers()); });
}

std::unique_ptr<Plan> PlanCache::make(const Spec& spec, NodePeers* node_peers) const {
  return std::make_unique<Plan>(spec, schedule_of(spec), spec.intra == Transport::mpi ? nullptr : node_peers,
                                members_.tags);
}

std::unique_ptr<SizedPlan> PlanCache::make_sized(const Spec& spec, NodePeers* node_peers, bool waits) const {
  const Forwarding forwarded = forwarding(spec, members_.shape);
  if (spec.sizes == Sizes::padded) {
    // The host MPI cannot serve started exchanges: see Decisions::by_messages().
    const bool by_host = spec.family == Family::native;
    std::unique_ptr<Plan> padded =
        by_host && waits ? nullptr : make(by_host ? single_step() : spec, by_host ? nullptr : node_peers);
    return std::make_unique<SizedPlan>(spec, members_.ranks(), members_.rank, forwarded, std::move(padded),
                                       members_.tags);
  }
  Flow travels = flow(spec, orders_.shape_for(spec, members_.shape), members_.rank);
  const std::int64_t working_blocks = peak_blocks(travels);
  auto made = std::make_unique<SizedPlan>(spec, std::move(travels), forwarded, working_blocks,
                                          spec.intra == Transport::mpi ? nullptr : node_peers, members_.tags);
  return made->fits() ? std::move(made) : nullptr;
}

void PlanCache::join(const Spec& likely) {
  if (node_.joined()) return;
  std::unique_ptr<Plan> plan;
  const bool plans = likely.family != Family::native && !needs_sizes(likely) && likely.order != Order::topology;
  const auto now = observer_.doing(Doing::sharing_memory);
  const std::int64_t prepared = node_.join(members_, [&](NodePeers* node_peers) {
    plans_.reserve(plans_.size() + 1);  // here, where a lack of memory is agreed on
    if (plans) plan = make(likely, node_peers);
    return plan ? plan->working_blocks() : NodePeers::unprepared;
  });
  if (prepared == NodePeers::unprepared) return;
  plan->share_working_blocks(prepared);
  plans_.push_back(std::move(plan));
}

std::string PlanCache::make_order_of(const Spec& spec) {
  if (spec.order != Order::topology || !members_.has_messages()) return "";  // no exchange would be executed
  const MadeOrder& made = *orders_.find(spec, members_.shape, members_.rank, members_.peers);
  if (made.problem.empty() && members_.options().explain && members_.rank == 0)
    say_once("order for " + std::to_string(members_.ranks()) + " ranks by " + made.source.network + ": " +
             made.summary);
  return made.problem;
}

void PlanCache::clear() {
  plans_.clear();
  sized_plans_.clear();
}

}  // namespace swapmeet
