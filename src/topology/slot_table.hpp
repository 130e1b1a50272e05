/// SlotTable is an order of messages: the slot in which each rank sends to each other rank. `swapmeet topology`
/// computes tables in which no link exceeds its capacity and writes them to files. The library reads them and knows no
/// network.
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
  std::int64_t bound = 0;             ///< lower bound on the number of slots of any order
  std::uint64_t key = 0;              ///< identifies the network, routing and placement of the table
  std::vector<std::int32_t> slot_of;  ///< slot at [source · P + destination]; -1: the rank itself

  std::int32_t slot(Rank from, Rank to) const {
    return slot_of[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(to)];
  }

  bool operator==(const SlotTable&) const = default;
};

/// Parses the text form of tables: docs/networks.md, "Tables of slots".
Result<SlotTable> parse_slots(std::string_view text);

/// Whether a file begins like a table of slots.
bool is_slot_table(std::string_view text);

/// Largest number of ranks (or nodes of leaders) of an order, which holds a number for each pair of them.
inline constexpr Rank most_in_order = 4096;

/// Returns why `members` are too many for an order, or "" if they are not.
std::string too_many_in_order(Rank members);

/// Returns the part of a table for the ranks of a communicator, whose ranks in MPI_COMM_WORLD are `world_ranks`. The
/// table must be for `world` ranks, the size of MPI_COMM_WORLD, or for as many ranks as the communicator has; in the
/// second case its ranks are those of the communicator. Slots that no rank uses are removed.
Result<SlotTable> part_of(const SlotTable& table, std::span<const Rank> world_ranks, Rank world);

/// Reads the file named in order=topology(FILE) and returns part_of() the table. A problem names the file, the line and
/// the cause. If the file is not a table, it also names the command that makes one.
Result<SlotTable> read_slots(const OrderSource& source, std::span<const Rank> world_ranks, Rank world);

/// Returns `problem` with the name of the source in front. Unprintable bytes are replaced by "?", and the text is
/// cut to 300 bytes.
Problem in_source(const OrderSource& source, const Problem& problem);

/// Returns the rows of one member, or of all (`only` = -1).
SlotRows rows_of(const SlotTable& slots, std::int32_t only = -1);

}  // namespace swapmeet
