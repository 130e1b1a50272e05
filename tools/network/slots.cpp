#include "network/slots.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "network/flow_items.hpp"
#include "network/torus_slots.hpp"
#include "network/turns.hpp"

namespace swapmeet {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Whether a search over single messages gets far enough, in half of the effort, to be worthwhile.
bool can_improve(std::int64_t messages, const Effort& effort) {
  constexpr double moves_a_second = 1e6, fewest_moves = 1.5;  // moves per message; measured on one core
  const double moves = std::min(static_cast<double>(effort.moves), effort.seconds * moves_a_second);
  return moves / 2 >= fewest_moves * static_cast<double>(messages);
}

/// Returns a predicate that is true until the moves, or the seconds since `start`, are used up.
std::function<bool(std::int64_t)> within(const Effort& effort, std::chrono::steady_clock::time_point start) {
  return [effort, start](std::int64_t moves) {
    return moves < effort.moves && (moves % moves_between_looks != 0 || seconds_since(start) < effort.seconds);
  };
}

/// Returns the best colours found. `known`: an order that was found before.
Colours best_colours(const Flows& flows, const std::optional<SlotTable>& known, std::int64_t bound,
                     const Effort& effort, Random& draw, std::chrono::steady_clock::time_point start) {
  const Items& items = flows.items;
  Colours best = greedy_colours(items, flows.order);
  if (known && known->slots < colours_used(best)) best = colours_of(*known);
  if (colouring_bytes(items, colours_used(best)) > most_improvement_bytes) return best;
  return improved(items, std::move(best), static_cast<std::int32_t>(bound), draw, within(effort, start));
}

/// Takes over the slots of another order of the same ranks.
void adopt(SlotTable&& found, SlotTable& result) {
  result.slots = found.slots;
  result.slot_of = std::move(found.slot_of);
}

/// Returns the hosts in the order of their first ranks, if all have the same number of ranks and one link of capacity
/// 1; else an empty list. Such a host sends one block at a time, so an order of hosts yields one of ranks.
Placement alike_hosts(const Network& network, const Placement& placement) {
  std::vector<std::size_t> ranks_of(static_cast<std::size_t>(network.hosts));
  Placement hosts;
  for (const Vertex host : placement)
    if (ranks_of[static_cast<std::size_t>(host)]++ == 0) hosts.push_back(host);
  const bool alike = std::ranges::all_of(hosts, [&](Vertex host) {
    return network.has_one_link(host) && ranks_of[static_cast<std::size_t>(host)] * hosts.size() == placement.size();
  });
  return alike ? hosts : Placement{};
}

/// Repeats the order of hosts for each pair (i, j): the i-th rank of each host sends to the j-th ranks of the other
/// hosts. Within a host, rank i sends to rank j in the repetition (j, i), where j sends to other hosts and i receives
/// from them.
void repeat(const SlotTable& order, const Placement& hosts, const Placement& placement, SlotTable& result) {
  const auto p = placement.size(), each = p / hosts.size();
  std::vector<std::int32_t> number_of(static_cast<std::size_t>(*std::max_element(hosts.begin(), hosts.end())) + 1),
      host(p), index(p);
  for (std::size_t h = 0; h < hosts.size(); ++h)
    number_of[static_cast<std::size_t>(hosts[h])] = static_cast<std::int32_t>(h);
  std::vector<std::int32_t> count(hosts.size());
  for (std::size_t r = 0; r < p; ++r) {
    host[r] = number_of[static_cast<std::size_t>(placement[r])];
    index[r] = count[static_cast<std::size_t>(host[r])]++;
  }
  const std::int32_t length = std::max(order.slots, 1), k = static_cast<std::int32_t>(each);
  for (std::size_t from = 0; from < p; ++from)
    for (std::size_t to = 0; to < p; ++to) {
      if (from == to) continue;
      result.slot_of[from * p + to] = host[from] == host[to]
                                          ? (index[to] * k + index[from]) * length
                                          : (index[from] * k + index[to]) * length + order.slot(host[from], host[to]);
    }
  result.slots = colours_used(result.slot_of);
}

}  // namespace

SlotTable conflict_free_slots(const Routing& routing, const Placement& placement, const Effort& effort) {
  const auto start = std::chrono::steady_clock::now();
  SlotTable result;
  result.ranks = static_cast<Rank>(placement.size());
  result.key = network_key(routing.network(), static_cast<int>(routing.spread()), routing.seed(), placement);
  result.bound = bound(routing, placement).slots;
  const auto p = static_cast<std::size_t>(result.ranks);
  result.slot_of.assign(p * p, -1);
  std::optional<SlotTable> known = torus_slots(routing, placement);
  if (known && known->slots == result.bound) return adopt(*std::move(known), result), result;
  const Placement hosts = alike_hosts(routing.network(), placement);
  if (!hosts.empty() && hosts.size() < p && hosts.size() > 1) {
    repeat(conflict_free_slots(routing, hosts, effort), hosts, placement, result);
    return result;
  }
  Random draw(effort.seed);
  if (!known) {
    const bool goes_on = can_improve(static_cast<std::int64_t>(p * (p - 1)), effort);
    const Effort part = goes_on ? Effort{effort.seed, effort.moves / 2, effort.seconds / 2} : effort;
    known = slots_in_turn(routing, placement, result.bound, draw, within(part, start));
    if (known && !goes_on) return adopt(*std::move(known), result), result;
  }
  const Flows flows = flows_of(routing, placement, draw);
  set_slots(best_colours(flows, known, result.bound, effort, draw, start), result);
  return result;
}

std::string to_text(const SlotTable& slots) {
  char head[160];
  std::snprintf(head, sizeof head, "swapmeet-slots 1\nkey %016llx\nranks %d\nslots %d\nbound %lld\n",
                static_cast<unsigned long long>(slots.key), slots.ranks, slots.slots,
                static_cast<long long>(slots.bound));
  std::string text = head;
  for (Rank from = 0; from < slots.ranks; ++from)
    for (Rank to = 0; to < slots.ranks; ++to)
      text += (from == to ? "-" : std::to_string(slots.slot(from, to))) + (to + 1 < slots.ranks ? ' ' : '\n');
  return text;
}

}  // namespace swapmeet
