#include "session/lanes.hpp"

#include <algorithm>
#include <utility>

#include "choose/select.hpp"

namespace swapmeet {

std::span<Exchange* const> Lanes::exchanges_of(const Plan& plan) const {
  const auto found = std::ranges::find(prepared_, &plan, [](const Prepared& one) { return one.in_lanes.front(); });
  return found != prepared_.end() ? std::span(found->in_lanes) : std::span<Exchange* const>();
}

void Lanes::prepare(Plan& plan) {
  Prepared& all = prepared_.emplace_back(std::vector<Exchange*>{&plan});
  for (NodeSharing& memory : std::span(others_).first(number_ - 1)) {
    std::unique_ptr<Exchange> made = plans_.prepare({plan.spec()}, memory);
    if (!made || !unavailable(plan.spec(), memory.means()).empty()) {
      all = {{&plan}};
      return;
    }
    all.in_lanes.push_back(all.own.emplace_back(std::move(made)).get());
  }
}

void Lanes::end() {
  for (NodeSharing& one : others_) one.end();
}

}  // namespace swapmeet
