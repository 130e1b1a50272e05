#include "network/turns.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "network/flow_items.hpp"

namespace swapmeet {

namespace {

/// Returns the ranks of each switch if all switches have the same number of ranks, more than one, each on a host of its
/// own; else an empty list.
std::vector<Sender> ranks_of_switches(const Network& network, const Placement& placement) {
  Placement hosts = placement;
  std::ranges::sort(hosts);
  if (std::ranges::adjacent_find(hosts) != hosts.end()) return {};
  std::map<Vertex, Sender> of_switch;
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    if (!network.has_one_link(placement[rank])) return {};
    of_switch[network.links_of(placement[rank])[0].to].push_back(static_cast<Rank>(rank));
  }
  std::vector<Sender> senders;
  for (auto& [vertex, ranks] : of_switch) senders.push_back(std::move(ranks));
  const std::size_t each = senders.front().size();
  const bool alike = std::ranges::all_of(senders, [&](const Sender& ranks) { return ranks.size() == each; });
  return alike && each > 1 ? senders : std::vector<Sender>{};
}

/// Repeats the colouring of a sender's messages once for each of its ranks.
SlotTable repeated(const std::vector<Sender>& senders, const Colours& colours, Rank ranks) {
  const auto slots = colours_used(colours), turns = static_cast<std::int32_t>(senders.front().size());
  SlotTable table;
  table.ranks = ranks;
  table.slot_of.assign(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks), -1);
  auto colour = colours.begin();
  std::vector<std::int32_t> sent(static_cast<std::size_t>(slots));  // messages of this switch so far, in each slot
  for (const Sender& sender : senders) {
    std::ranges::fill(sent, 0);
    for (Rank to = 0; to < ranks; ++to, ++colour) {
      const std::int32_t first = sent[static_cast<std::size_t>(*colour)]++;
      for (std::int32_t turn = 0; turn < turns; ++turn) {
        const Rank from = sender[static_cast<std::size_t>((first + turn) % turns)];
        if (from == to) continue;
        table.slot_of[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(to)] =
            turn * slots + *colour;
      }
    }
  }
  table.slots = colours_used(table.slot_of);
  return table;
}

}  // namespace

std::optional<SlotTable> slots_in_turn(const Routing& routing, const Placement& placement, std::int64_t bound,
                                       Random& draw, const std::function<bool(std::int64_t)>& more) {
  if (routing.spread() == Spread::hash) return std::nullopt;
  const std::vector<Sender> senders = ranks_of_switches(routing.network(), placement);
  if (senders.size() < 2) return std::nullopt;
  const auto turns = static_cast<std::int64_t>(senders.front().size());
  const Flows flows = flows_of(routing, placement, senders, draw);
  const auto least = static_cast<std::int32_t>((bound + turns - 1) / turns);
  const Colours colours = improved(flows.items, greedy_colours(flows.items, flows.order), least, draw, more);
  return repeated(senders, colours, static_cast<Rank>(placement.size()));
}

}  // namespace swapmeet
