#include "session/lanes.hpp"

#include <algorithm>
#include <utility>

#include "choose/select.hpp"

namespace swapmeet {

std::span<Exchange* const> Lanes::exchanges_of(const Plan& plan) const {
  const std::span known(prepared_.data(), prepared_count_);
  const auto found = std::ranges::find(known, &plan, [](const Prepared& one) { return one.in_lanes.front(); });
  if (found != known.end()) return {found->in_lanes.data(), found->count};
  return {};
}

void Lanes::prepare(Plan& plan) {
  Prepared& all = prepared_[prepared_count_++];
  all.in_lanes.front() = &plan;
  all.count = 1;
  for (std::size_t lane = 1; lane < number_; ++lane) {
    NodeSharing& memory = others_[lane - 1];
    all.own[lane - 1] = plans_.prepare({plan.spec()}, memory);
    if (!all.own[lane - 1] || !unavailable(plan.spec(), memory.means()).empty()) {
      all.own = {};
      all.count = 1;
      return;
    }
    all.in_lanes[lane] = all.own[lane - 1].get();
    all.count = lane + 1;
  }
}

void Lanes::clear() {
  for (Prepared& one : prepared_) one = {};
  prepared_count_ = 0;
}

void Lanes::end() {
  for (NodeSharing& one : others_) one.end();
}

}  // namespace swapmeet
