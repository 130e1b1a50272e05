/// Makes the slots of ranks for order=topology(...), from a network or a table. Reads files.
#pragma once

#include <memory>

#include "network/slots.hpp"

namespace swapmeet {

/// The participants of an exchange: ranks, or nodes, each represented by its first rank.
struct Members {
  std::vector<std::string> hosts;  ///< host name of each; empty: the source has a placement, or block
  std::vector<Rank> world_ranks;   ///< of each, in MPI_COMM_WORLD
  Rank world = 1;                  ///< number of ranks in MPI_COMM_WORLD, to which placements and tables refer

  Rank count() const { return static_cast<Rank>(world_ranks.size()); }
};

/// Returns the least effort that comes close to the best order: a number of moves per message, limited to `seconds`.
Effort standard_effort(Rank members, double seconds);

/// Returns the slots of the members: from a table, from the cache (order_cache.hpp), or computed, and then stored in
/// the cache. A problem names the file, the line and the error. Deterministic except for the time limit and the cache.
Result<SlotTable> make_order(const OrderSource& source, const Members& members, double seconds);

/// Returns why there can be no such order; "" if there can. Computes no order.
std::string order_problem(const OrderSource& source, const Members& members);

/// Returns the first link or rank with a load above its capacity in a slot, in words; "" if there is none.
std::string overfull(const Routing& routing, const Placement& placement, const SlotTable& slots);

/// Returns the same for an order from make_order(). For a table, whose network is unknown, it returns "".
Result<std::string> overfull(const OrderSource& source, const Members& members, const SlotTable& slots);

}  // namespace swapmeet
