/// On which host each rank runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// The host of each rank.
using Placement = std::vector<Vertex>;

/// Reads a placement; `ranks` = 0: as many as it makes of itself.
///
///   block[:K]          K ranks on each host in turn, the last may have fewer; K: as few as make room for all, or 1
///   cyclic[:N]         one after the other on the first N hosts (all), again and again
///   random:SEED[:K]    as block:K, hosts in random order: a random part of the machine
///   n3,n1*4,n3         these hosts, with so many ranks
Result<Placement> parse_placement(std::string_view text, const Network& network, Rank ranks);

/// A number for network, routing and placement: the same on every machine, another if anything that bears on slots
/// differs.
std::uint64_t network_key(const Network& network, int spread, std::uint64_t seed, const Placement& placement);

}  // namespace swapmeet
