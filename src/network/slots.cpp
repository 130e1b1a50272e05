#include "network/slots.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <numeric>

#include "network/flow_items.hpp"
#include "network/text.hpp"
#include "network/torus_slots.hpp"
#include "network/turns.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Whether a search of single messages gets so far in half of this that it gains something.
bool can_improve(std::int64_t messages, const Effort& effort) {
  constexpr double moves_a_second = 1e6, fewest_moves = 1.5;  // of each message; what was measured on one core
  const double moves = std::min(static_cast<double>(effort.moves), effort.seconds * moves_a_second);
  return moves / 2 >= fewest_moves * static_cast<double>(messages);
}

/// Until the moves or the seconds since `start` are used up.
std::function<bool(std::int64_t)> within(const Effort& effort, std::chrono::steady_clock::time_point start) {
  return [effort, start](std::int64_t moves) {
    return moves < effort.moves && (moves % moves_between_looks != 0 || seconds_since(start) < effort.seconds);
  };
}

/// `known`: what has been found before.
Colours best_colours(const Flows& flows, const std::optional<SlotTable>& known, std::int64_t bound,
                     const Effort& effort, Random& draw, std::chrono::steady_clock::time_point start) {
  const Items& items = flows.items;
  Colours best = greedy_colours(items, flows.order);
  if (known && known->slots < colours_used(best)) best = colours_of(*known);
  if (colouring_bytes(items, colours_used(best)) <= most_improvement_bytes)
    return improved(items, std::move(best), static_cast<std::int32_t>(bound), draw, within(effort, start));
  const auto flow_count = static_cast<std::int64_t>(items.count());
  for (std::int64_t moves = flow_count;
       moves <= effort.moves && colours_used(best) > bound && seconds_since(start) < effort.seconds;
       moves += flow_count)
    best = recoloured(items, best, draw);
  return best;
}

/// Takes the slots that were found for the same.
void adopt(SlotTable&& found, SlotTable& result) {
  result.slots = found.slots;
  result.slot_of = std::move(found.slot_of);
}

/// The hosts, in the order of their first ranks, if all have as many ranks, and one link of capacity 1: what they send
/// goes out one block at a time, so an order of hosts does for ranks. Otherwise nothing.
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

/// The order of hosts once for each pair (i, j): the i-th rank of each host sends to the j-th of others. Within a host
/// rank i sends to rank j while it is j that sends to other hosts, and i that receives.
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

std::vector<Rank> SlotTable::to(Rank rank) const {
  std::vector<Rank> peers(static_cast<std::size_t>(slots), -1);
  for (Rank other = 0; other < ranks; ++other)
    if (other != rank) peers[static_cast<std::size_t>(slot(rank, other))] = other;
  return peers;
}

std::vector<Rank> SlotTable::from(Rank rank) const {
  std::vector<Rank> peers(static_cast<std::size_t>(slots), -1);
  for (Rank other = 0; other < ranks; ++other)
    if (other != rank) peers[static_cast<std::size_t>(slot(other, rank))] = other;
  return peers;
}

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

Result<SlotTable> parse_slots(std::string_view text) {
  Lines lines(text);
  SlotTable slots;
  const auto number = [&](std::size_t word, auto& value, int base = 10) {
    return read_number(lines.words()[word], 0, std::numeric_limits<std::decay_t<decltype(value)>>::max(), value, base);
  };
  const auto field = [&](std::string_view key, auto& value, int base = 10) {
    return lines.next() && lines.words().size() == 2 && lines.words()[0] == key && number(1, value, base);
  };
  int version = 0;
  if (!field("swapmeet-slots", version) || version != 1) return Problem{"expected swapmeet-slots 1", 1, 1};
  if (!field("key", slots.key, 16)) return lines.here("expected key HEXADECIMAL");
  if (!field("ranks", slots.ranks) || slots.ranks < 1 || slots.ranks > 1 << 20)
    return lines.here("expected ranks NUMBER");
  if (!field("slots", slots.slots) || slots.slots > std::int64_t{slots.ranks} * (slots.ranks - 1))
    return lines.here("expected slots NUMBER, no more than messages");
  if (!field("bound", slots.bound)) return lines.here("expected bound NUMBER");
  const auto p = static_cast<std::size_t>(slots.ranks);
  for (std::size_t from = 0; from < p; ++from) {
    if (!lines.next())
      return Problem{"only " + std::to_string(from) + " of " + std::to_string(p) + " ranks: the table is cut off",
                     lines.number(), 1};
    if (lines.words().size() != p)
      return lines.here("expected " + std::to_string(p) + " slots, found " + std::to_string(lines.words().size()));
    for (std::size_t to = 0; to < p; ++to) {
      std::int32_t slot = -1;
      if (from == to ? lines.words()[to] != "-" : !number(to, slot) || slot >= slots.slots)
        return lines.at(to, from == to ? "expected -: a rank sends nothing to itself"
                                       : "expected a slot from 0 to " + std::to_string(slots.slots - 1));
      slots.slot_of.push_back(slot);
    }
  }
  if (lines.next()) return lines.here("expected the end");
  // A rank that is to send (receive) twice in a slot could not keep its order.
  std::vector<std::size_t> seen(static_cast<std::size_t>(slots.slots), 0);
  for (const bool sends : {true, false}) {
    std::fill(seen.begin(), seen.end(), 0);
    for (std::size_t rank = 0; rank < p; ++rank)
      for (std::size_t other = 0; other < p; ++other) {
        if (rank == other) continue;
        std::size_t& last =
            seen[static_cast<std::size_t>(sends ? slots.slot_of[rank * p + other] : slots.slot_of[other * p + rank])];
        if (last == rank + 1)
          return Problem{"rank " + std::to_string(rank) + (sends ? " sends" : " receives") + " twice in a slot",
                         static_cast<int>(sends ? rank + 6 : 6), 1};
        last = rank + 1;
      }
  }
  return slots;
}

}  // namespace swapmeet
