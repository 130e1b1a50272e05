/// Networks that are built by a rule, each with hosts numbered switch by switch. Links have capacity 1 if nothing else
/// is said.
#pragma once

#include <string_view>
#include <vector>

#include "network/network.hpp"

namespace swapmeet {

inline constexpr std::int32_t most_vertices = 1 << 20;

/// MMS graph of 2q² switches of degree (3q-δ)/2 and diameter 2; q = 4w+δ a prime power, δ in -1, 0, 1.  Source:
/// besta2014
Result<Network> slim_fly(std::int32_t q, std::int32_t hosts);

/// Two levels: every leaf has one link to every spine. Taper: hosts / (spines · parallel).  Source: leiserson1985
Result<Network> fat_tree(std::int32_t leaves, std::int32_t hosts, std::int32_t spines, std::int32_t parallel);

/// Three levels: in each pod every leaf has a link to every aggregation switch; aggregation switch i of every pod has a
/// link to each of the `cores` core switches of its own plane i.                                    Source: alfares2008
Result<Network> fat_tree3(std::int32_t pods, std::int32_t leaves, std::int32_t hosts, std::int32_t aggregations,
                          std::int32_t cores);

/// g groups of a switches, all linked with one another, each with p hosts and h links to other groups. Every two groups
/// have ⌊a·h/(g-1)⌋ links; port k of group i (at switch k/h) leads to group i+1 + k mod (g-1), modulo g.  Source:
/// kim2008 g = 0: as many as can be, a·h+1.
Result<Network> dragonfly(std::int32_t a, std::int32_t p, std::int32_t h, std::int32_t g);

/// A switch at every place of a grid that wraps around; along a dimension of 2 places there is one link, not two.
/// `ordered`: messages go along the first dimension as far as they have to, then along the second, and so on
/// (dimension-order routing, as BlueGene and Tofu have it); where both ways round are as long, those to places with
/// an odd sum of coordinates take the one and the others the other. Else they take any shortest path, as in all other networks.
Result<Network> torus(const std::vector<std::int32_t>& sizes, std::int32_t hosts, bool ordered = false);

/// A name such as slim-fly(q=5,hosts=4), as network_names() lists them.
Result<Network> named_network(std::string_view text);

struct NetworkName {
  std::string_view name, parameters, meaning;
};
std::vector<NetworkName> network_names();

}  // namespace swapmeet
