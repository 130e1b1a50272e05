#include "topology/slot_table.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "schedule/lines.hpp"
#include "schedule/names.hpp"
#include "schedule/owned_file.hpp"

namespace swapmeet {

namespace {

constexpr std::size_t most_table_bytes = std::size_t{256} << 20;
constexpr std::size_t most_problem = 300;  ///< length limit of a message to the user, in bytes

}  // namespace

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
  // In an order, no rank sends (receives) twice in a slot.
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

bool is_slot_table(std::string_view text) { return text.starts_with("swapmeet-slots"); }

std::string too_many_in_order(Rank members) {
  if (members <= most_in_order) return "";
  return "an order of more than " + std::to_string(most_in_order) +
         " ranks is too large to be computed, and there are " + std::to_string(members);
}

Result<SlotTable> part_of(const SlotTable& table, std::span<const Rank> world_ranks, Rank world) {
  const auto count = static_cast<Rank>(world_ranks.size());
  if (table.ranks != world && table.ranks != count)
    return Problem{"the table is of " + std::to_string(table.ranks) + " ranks, not of " + std::to_string(count) +
                   (count == world ? "" : " or " + std::to_string(world))};
  const bool of_world = table.ranks == world;
  SlotTable slots;
  slots.ranks = count;
  slots.slots = table.slots;
  slots.key = table.key;
  std::vector<std::int32_t> used(static_cast<std::size_t>(table.slots) + 1);
  const auto in_table = [&](Rank member) { return of_world ? world_ranks[static_cast<std::size_t>(member)] : member; };
  for (Rank from = 0; from < count; ++from)
    for (Rank to = 0; to < count; ++to) {
      slots.slot_of.push_back(from == to ? -1 : table.slot(in_table(from), in_table(to)));
      if (from != to) used[static_cast<std::size_t>(slots.slot_of.back()) + 1] = 1;
    }
  std::partial_sum(used.begin(), used.end(), used.begin());  // removes slots that no rank uses
  for (std::int32_t& slot : slots.slot_of)
    if (slot >= 0) slot = used[static_cast<std::size_t>(slot)];
  slots.slots = used.back();
  slots.bound = count == table.ranks ? table.bound : count - 1;
  return slots;
}

Result<SlotTable> read_slots(const OrderSource& source, std::span<const Rank> world_ranks, Rank world) {
  if (const std::string problem = too_many_in_order(static_cast<Rank>(world_ranks.size())); !problem.empty())
    return Problem{problem};
  const Result<std::string> text = text_of_file(source.network, most_table_bytes);
  if (!text && text.problem().line >= 0) return in_source(source, text.problem());
  if (!text || !is_slot_table(*text))
    return in_source(source, {std::string(text ? "it is no table of slots" : "there is no such file") +
                              "; `swapmeet topology " + in_quotes(source.network, most_problem) +
                              " --slots TABLE` makes one of a network, for order=topology(TABLE)"});
  const Result<SlotTable> table = parse_slots(*text);
  if (!table) return in_source(source, table.problem());
  Result<SlotTable> part = part_of(*table, world_ranks, world);
  return part ? part : Result<SlotTable>(in_source(source, part.problem()));
}

Problem in_source(const OrderSource& source, const Problem& problem) {
  std::string words = in_quotes(source.network + ": " + problem.text(), most_problem);
  return {words.substr(1, words.size() - 2)};
}

SlotRows rows_of(const SlotTable& slots, std::int32_t only) {
  SlotRows rows{slots.ranks, slots.slots, only, {}, {}};
  for (Rank rank = std::max(only, 0); rank < (only < 0 ? slots.ranks : only + 1); ++rank)
    for (Rank other = 0; other < slots.ranks; ++other) {
      rows.sends.push_back(slots.slot(rank, other));
      rows.receives.push_back(slots.slot(other, rank));
    }
  return rows;
}

}  // namespace swapmeet
