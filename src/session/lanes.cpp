#include "session/lanes.hpp"

#include <algorithm>

#include "choose/select.hpp"

namespace swapmeet {

std::span<Plan* const> Lanes::plans_of(const Plan& plan) const {
  const std::span known(prepared_.data(), prepared_count_);
  const auto found = std::ranges::find(known, &plan, [](const Prepared& one) { return one.plans.front(); });
  if (found != known.end()) return {found->plans.data(), found->count};
  return {};
}

void Lanes::prepare(Plan& plan) {
  Prepared all{{&plan}, 1};
  // The table of a topology order is read once, for the communicator's own plans.
  for (std::size_t i = 1; i < number_ && plan.spec().order != Order::topology; ++i) {
    all.plans[i] = plan_in(others_[i - 1], plan.spec());
    if (!all.plans[i]) break;
    all.count = i + 1;
  }
  if (all.count < number_) all.count = 1;
  prepared_[prepared_count_++] = all;
}

/// The plan of `spec` in `lane`; nullptr on all ranks if it cannot be made there. Collective.
Plan* Lanes::plan_in(Lane& lane, const Spec& spec) {
  Exchange* const plan = lane.plans.find({spec});
  return unavailable(spec, lane.node.means()).empty() ? static_cast<Plan*>(plan) : nullptr;
}

void Lanes::clear() {
  prepared_count_ = 0;
  for (Lane& lane : others_) lane.plans.clear();
}

void Lanes::end() {
  for (Lane& lane : others_) lane.node.end();
}

}  // namespace swapmeet
