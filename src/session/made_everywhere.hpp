/// Plans that either all ranks have, or none.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "team/agreement.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// Reason for a missing plan.
inline constexpr const char* no_plan = "a rank has no memory for the plan, or it has too many messages to number";

/// Calls make() on all ranks. Returns its plan if every rank has made one, after setting its number of working blocks
/// to the largest of any rank; else nullptr on all ranks. Collective over `peers`.
template <class Make>
auto made_everywhere(const Peers& peers, Make make) -> decltype(make()) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  decltype(make()) made;
  try {
    made = make();
  } catch (const std::bad_alloc&) {}
  const std::int64_t most = most_of_any_rank(made ? made->working_blocks() : none, peers);
  if (most == none) return nullptr;
  made->share_working_blocks(most);
  return made;
}

/// Returns the plan of `spec` in `all`, or else makes it by made_everywhere() and adds it; then collective over `peers`.
/// The place in `all` is part of what a rank may have no memory for.
template <class Made>
Made* find_or_make(std::vector<std::unique_ptr<Made>>& all, const Spec& spec, const Peers& peers, auto make) {
  for (const auto& known : all)
    if (known->spec() == spec) return known.get();
  std::unique_ptr<Made> made = made_everywhere(peers, [&] {
    all.reserve(all.size() + 1);
    return make();
  });
  return made ? all.emplace_back(std::move(made)).get() : nullptr;
}

}  // namespace swapmeet
