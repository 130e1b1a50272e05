/// Generators of regular networks. Hosts are numbered switch by switch. Links have capacity 1 unless stated otherwise.
#pragma once

#include <string_view>
#include <vector>

#include "network/network.hpp"

namespace swapmeet {

inline constexpr std::int32_t most_vertices = 1 << 20;

/// Returns an MMS graph of 2q² switches with degree (3q-δ)/2 and diameter 2, where q = 4w+δ is a prime power and δ is
/// -1, 0 or 1; `hosts` per switch.  Source: besta2014
Result<Network> slim_fly(std::int32_t q, std::int32_t hosts);

/// Returns a tree of two levels: every leaf has one link of capacity `parallel` to every spine. Its taper is hosts /
/// (spines · parallel).  Source: leiserson1985
Result<Network> fat_tree(std::int32_t leaves, std::int32_t hosts, std::int32_t spines, std::int32_t parallel);

/// Returns a tree of three levels: in each pod every leaf has a link to every aggregation switch; aggregation switch i
/// of every pod has a link to each of the `cores` core switches of plane i.  Source: alfares2008
Result<Network> fat_tree3(std::int32_t pods, std::int32_t leaves, std::int32_t hosts, std::int32_t aggregations,
                          std::int32_t cores);

/// Returns g groups of a switches, each with p hosts and h links to other groups. The switches of a group are all
/// linked with one another, and every two groups have ⌊a·h/(g-1)⌋ links. Port k of group i (at switch k/h) leads to
/// group i+1 + k mod (g-1), modulo g. g = 0 stands for the largest number of groups, a·h+1.  Source: kim2008
Result<Network> dragonfly(std::int32_t a, std::int32_t p, std::int32_t h, std::int32_t g);

/// Returns a torus with a switch at every place. A dimension of 2 places has one link, not two. `ordered`: messages go
/// along the first dimension as far as needed, then along the second, and so on (dimension-order routing, as in
/// BlueGene and Tofu). If both ways round are equally long, the direction depends on the parity of the sum of the
/// destination's coordinates. Without `ordered`, messages take any shortest path, as in all other networks.
Result<Network> torus(const std::vector<std::int32_t>& sizes, std::int32_t hosts, bool ordered = false);

/// Parses a name such as slim-fly(q=5,hosts=4), as network_names() lists them.
Result<Network> named_network(std::string_view text);

struct NetworkName {
  std::string_view name, parameters, meaning;
};
std::vector<NetworkName> network_names();

}  // namespace swapmeet
