/// A lower bound on the load of an all-to-all on the links between switches, for any forwarding of blocks. A block
/// takes the route of the network from host to host, and any host with ranks may forward it to any other.
///
/// Let every link have a length of at least 0. A block travels at least the distance of its ends. So the load of the
/// links, weighted with their lengths, is at least the sum of the distances of all pairs. If no link carries more than
/// B times its capacity, that load is at most B times the sum of length times capacity. So B is at least the quotient
/// of the two sums, for any lengths. Length 1 on the links across a cut and 0 elsewhere gives the bound of the cut;
/// 1/capacity everywhere gives that of the fewest hops. The largest B over all lengths is the optimum of the linear
/// program of the least load (its dual). If there are too many hosts to consider all routes, the distance is that of
/// the shortest path of any kind, which is never longer. [checked by tests/core/link_bound_test.py]
///
/// Source:  shahrokhi1990 (the dual of maximum concurrent flow); garg2007 (lengths that grow exponentially with load)
#pragma once

#include <cstdint>
#include <vector>

#include "network/placement.hpp"
#include "network/routing.hpp"

namespace swapmeet {

struct LinkBound {
  double blocks = 0;              ///< lower bound on the blocks over capacity of the busiest link between switches
  std::vector<Vertex> cut;        ///< hosts on one side of the cut, in order, if a cut gives the bound
  std::int32_t nearest_hops = 0;  ///< lower bound on the links between the switches of two hosts with ranks
  std::int32_t host_links = 1;    ///< the largest sum of capacities of a used host's links
};

/// Returns the bound for one block from every rank to every other. `effort`: limit on the number of links and pairs
/// that are visited while lengths are improved.
LinkBound link_bound(const Routing& routing, const Placement& placement, std::int64_t effort = 200'000'000);

}  // namespace swapmeet
