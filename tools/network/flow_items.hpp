/// The messages of an all-to-all as items to be coloured: what they share are ranks and links.
#pragma once

#include "network/colouring.hpp"
#include "network/slots.hpp"

namespace swapmeet {

/// The flows as items, in the order of (source, destination); only resources that can be short.
struct Flows {
  Items items;
  std::vector<std::int32_t> order;  ///< those that ask most of the network first
};

/// Ranks of which one sends after the other to all ranks, along the same links; as many blocks at a time as they are.
using Sender = std::vector<Rank>;

Flows flows_of(const Routing& routing, const Placement& placement, Random& draw);

/// What each sender sends to each rank: but for rank i that sends alone, to rank i. In the order of (sender, destination).
Flows flows_of(const Routing& routing, const Placement& placement, std::span<const Sender> senders, Random& draw);

/// The colours of the items of all messages.
Colours colours_of(const SlotTable& table);

/// Sets the slots of all messages to the colours of their items.
void set_slots(const Colours& colours, SlotTable& table);

}  // namespace swapmeet
