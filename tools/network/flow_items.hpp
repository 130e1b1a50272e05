/// The messages of an all-to-all as items to colour. Their shared resources are ranks and links.
#pragma once

#include "network/colouring.hpp"
#include "network/slots.hpp"

namespace swapmeet {

/// The messages as items, in the order of (source, destination). A resource is left out if it can carry all its
/// messages at once.
struct Flows {
  Items items;
  std::vector<std::int32_t> order;  ///< all items, those that need the scarcest resources first
};

/// A group of ranks that send to all ranks one after the other, along the same links. The group sends as many blocks at
/// a time as it has ranks.
using Sender = std::vector<Rank>;

/// Returns the items of the messages of all ranks. `draw` orders items that are equal.
Flows flows_of(const Routing& routing, const Placement& placement, Random& draw);

/// Returns the items of the messages of each sender to each rank, in the order of (sender, destination). A sender of
/// one rank has no message to itself.
Flows flows_of(const Routing& routing, const Placement& placement, std::span<const Sender> senders, Random& draw);

/// Returns the slots of all messages as colours of their items.
Colours colours_of(const SlotTable& table);

/// Sets the slots of all messages to the colours of their items.
void set_slots(const Colours& colours, SlotTable& table);

}  // namespace swapmeet
