/// What an all-to-all asks of the links between switches, whoever passes its blocks on: a block takes the route of the
/// network from host to host, and any host with ranks may pass it on to any other.
///
/// Let every link have a length, at least 0. A block travels at least the distance of its ends, so links carry, weighted
/// with their lengths, the sum of the distances of all pairs at least; if none carries more than B times its capacity, they
/// carry B times the sum of length times capacity at most. So B is at least the quotient of the two sums, for any lengths:
/// 1 on the links across a cut and 0 elsewhere gives the bound of the cut; 1/capacity everywhere, that of the fewest hops.
/// The largest B of any lengths is the optimum of the linear program of the least load (its dual). Where there are too
/// many hosts to look at all routes, the distance is that of the shortest way of any kind, which is never longer. [checked by
/// tests/core/link_bound_test.py]
///
/// Source:  shahrokhi1990 (the dual of maximum concurrent flow); garg2007 (lengths that grow exponentially with load)
#pragma once

#include <cstdint>
#include <vector>

#include "network/placement.hpp"
#include "network/routing.hpp"

namespace swapmeet {

struct LinkBound {
  double blocks = 0;              ///< over capacity, of the busiest link between switches, at least
  std::vector<Vertex> cut;        ///< if a cut gives it: the hosts on one side, in order
  std::int32_t nearest_hops = 0;  ///< links between the switches of two hosts that have ranks, at least
  std::int32_t host_links = 1;    ///< the largest capacity of the links to one of these hosts
};

/// A block from every rank to every other. `effort`: links and pairs that may be looked at while lengths are improved.
LinkBound link_bound(const Routing& routing, const Placement& placement, std::int64_t effort = 200'000'000);

}  // namespace swapmeet
