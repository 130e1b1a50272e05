/// The placement of ranks on hosts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// The host of each rank.
using Placement = std::vector<Vertex>;

/// Parses a placement. `ranks` = 0: the number of ranks follows from the text.
///
///   block[:K]          K ranks on each host in turn, the last may have fewer; default: the least K with room for all
///                      (1 if `ranks` is 0)
///   cyclic[:N]         round-robin on the first N hosts; default: all hosts
///   random:SEED[:K]    like block:K, with the hosts in random order: a random part of the machine
///   n3,n1*4,n3         these hosts, with this many ranks each (default 1)
Result<Placement> parse_placement(std::string_view text, const Network& network, Rank ranks);

/// Returns a hash of network, routing and placement. It is the same on every machine, and covers everything that
/// affects slots.
std::uint64_t network_key(const Network& network, int spread, std::uint64_t seed, const Placement& placement);

}  // namespace swapmeet
