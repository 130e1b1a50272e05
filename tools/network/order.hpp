/// From what order=topology(...) says, a network or a table, to the slots of ranks. Reads files.
#pragma once

#include <memory>

#include "network/slots.hpp"

namespace swapmeet {

/// Who is to meet whom: ranks, or nodes, each of which is stood for by its first rank.
struct Members {
  std::vector<std::string> hosts;  ///< the name of the host of each; empty: the source has a placement, or block
  std::vector<Rank> world_ranks;   ///< of each, in MPI_COMM_WORLD
  Rank world = 1;                  ///< ranks in MPI_COMM_WORLD, which placements and tables are of

  Rank count() const { return static_cast<Rank>(world_ranks.size()); }
};

/// Ranks 0 to n-1, placed by the source.
Members all_ranks(Rank n);

/// The least effort that comes near the best: so many moves for each message, but not for longer than this.
Effort standard_effort(Rank members, double seconds);

/// The slots of the members: from a table, from the cache (order_cache.hpp), or computed, and then kept there. A
/// problem names the file, the line and what is wrong. Deterministic but for the time, and the cache.
Result<SlotTable> make_order(const OrderSource& source, const Members& members, double seconds);

/// Why there can be no such order; "" if there can. Computes none.
std::string order_problem(const OrderSource& source, const Members& members);

/// The first link, or rank, that has more in a slot than its capacity, in words; "" if none has.
std::string overfull(const Routing& routing, const Placement& placement, const SlotTable& slots);

/// The same of an order from make_order(). Nothing is known of the network of a table: "".
Result<std::string> overfull(const OrderSource& source, const Members& members, const SlotTable& slots);

}  // namespace swapmeet
