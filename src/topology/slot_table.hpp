/// Orders of messages as tables of slots: in which slot each rank sends to each other. Knows no network: `swapmeet topology`
/// computes tables in which no link carries more than it can, and writes them; the library reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/result.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

struct SlotTable {
  Rank ranks = 0;
  std::int32_t slots = 0;
  std::int64_t bound = 0;             ///< no order has fewer slots
  std::uint64_t key = 0;              ///< of the network, routing and placement that it was made for
  std::vector<std::int32_t> slot_of;  ///< [source · P + destination]; -1: to itself

  std::int32_t slot(Rank from, Rank to) const {
    return slot_of[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(to)];
  }
  /// For each slot, to whom `rank` sends; -1: to nobody.
  std::vector<Rank> to(Rank rank) const;
  /// For each slot, from whom it receives; -1: from nobody.
  std::vector<Rank> from(Rank rank) const;

  bool operator==(const SlotTable&) const = default;
};

/// docs/networks.md, "Tables of slots".
std::string to_text(const SlotTable& slots);
Result<SlotTable> parse_slots(std::string_view text);

/// Whether a file begins as a table of slots does.
bool is_slot_table(std::string_view text);

/// The most ranks, or nodes of leaders, of an order: it is a number for each pair of them.
inline constexpr Rank most_in_order = 4096;

/// Why so many are too many; "": they are not.
std::string too_many_in_order(Rank members);

/// The rows of those that meet, whose ranks in MPI_COMM_WORLD are `world_ranks`, in a table of its `world` ranks; or the table
/// itself, if it is of as many ranks.
Result<SlotTable> part_of(const SlotTable& table, std::span<const Rank> world_ranks, Rank world);

/// The same from the file that order=topology(FILE) names. A problem names the file, the line and what is wrong, and, if the file
/// is none of a table, the command that makes one.
Result<SlotTable> read_slots(const OrderSource& source, std::span<const Rank> world_ranks, Rank world);

/// `problem` with what the source names, without what a terminal would obey.
Problem in_source(const OrderSource& source, const Problem& problem);

/// What a rank, or all (`only` = -1), must know of an order.
SlotRows rows_of(const SlotTable& slots, std::int32_t only = -1);

}  // namespace swapmeet
