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

Flows flows_of(const Routing& routing, const Placement& placement, Random& draw);

/// The colours of the items of all messages.
Colours colours_of(const SlotTable& table);

/// Sets the slots of all messages to the colours of their items.
void set_slots(const Colours& colours, SlotTable& table);

}  // namespace swapmeet
