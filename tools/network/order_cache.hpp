/// Orders that were computed before, in files of the user's: $XDG_CACHE_HOME/swapmeet/orders (~/.cache), at most 256
/// MiB of them. Nothing here fails: where files cannot be read or written, there is no cache.
#pragma once

#include <optional>

#include "network/slots.hpp"

namespace swapmeet {

/// The order with that key, for so many ranks; nothing if there is none that is whole. Its slots are not checked
/// against the network.
std::optional<SlotTable> cached_order(std::uint64_t key, Rank ranks);

/// Keeps it under its key: another process sees all of it, or nothing. The oldest ones go when there are too many.
void keep_order(const SlotTable& slots);

}  // namespace swapmeet
