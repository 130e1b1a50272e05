/// The cache of computed orders, in files of the user: $XDG_CACHE_HOME/swapmeet/orders (~/.cache), at most 256 MiB. Its
/// functions report no errors: if files cannot be read or written, there is no cache.
#pragma once

#include <optional>

#include "network/slots.hpp"

namespace swapmeet {

/// Returns the order with that key for this number of ranks; nullopt if there is none or its file is damaged. Its slots
/// are not checked against the network.
std::optional<SlotTable> cached_order(std::uint64_t key, Rank ranks);

/// Stores an order under its key, atomically for other processes. The oldest orders are deleted if there are too many.
void keep_order(const SlotTable& slots);

}  // namespace swapmeet
