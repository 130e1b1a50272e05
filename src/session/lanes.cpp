#include "session/lanes.hpp"

#include <algorithm>
#include <utility>

#include "choose/select.hpp"

namespace swapmeet {

void Lanes::use(std::size_t number) {
  clear();
  number_ = number;
}

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
  std::array<NodeSharing*, most - 1> memories{};
  std::ranges::transform(others_, memories.begin(), [](NodeSharing& one) { return &one; });
  const std::span used(memories.data(), number_ - 1);
  all.own = plans_.prepare({plan.spec()}, used);
  const auto is_there = [](const std::unique_ptr<Exchange>& one) { return one != nullptr; };
  const auto has_means = [&](const NodeSharing* one) { return unavailable(plan.spec(), one->means()).empty(); };
  if (!std::ranges::all_of(all.own, is_there) || !std::ranges::all_of(used, has_means)) return all.own.clear();
  for (const std::unique_ptr<Exchange>& one : all.own) all.in_lanes[all.count++] = one.get();
}

void Lanes::clear() {
  for (Prepared& one : prepared_) one = {};
  prepared_count_ = 0;
}

void Lanes::end() {
  for (NodeSharing& one : others_) one.end();
}

}  // namespace swapmeet
