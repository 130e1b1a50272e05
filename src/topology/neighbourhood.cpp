#include "topology/neighbourhood.hpp"

#include <algorithm>
#include <unordered_map>

namespace swapmeet {

namespace {

/// Returns the edges to or from `peers`. On a grid, block number ^ `partner` is the number of the block that is sent on
/// the edge.
std::vector<Edge> edges(const std::vector<Rank>& peers, bool grid, std::int32_t partner) {
  std::vector<Edge> all;
  std::unordered_map<Rank, std::int32_t> before;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (peers[i] == nobody) continue;
    const auto block = static_cast<std::int32_t>(i);
    all.push_back({peers[i], block, grid ? block ^ partner : before[peers[i]]++});
  }
  return all;
}

}  // namespace

std::vector<Edge> edges_out(const Neighbourhood& neighbourhood) {
  return edges(neighbourhood.to, neighbourhood.grid, 0);
}

std::vector<Edge> edges_in(const Neighbourhood& neighbourhood) {
  return edges(neighbourhood.from, neighbourhood.grid, 1);
}

const Neighbourhood& NodeNeighbourhoods::of(Rank rank) const {
  return *std::ranges::lower_bound(node, rank, {}, &Neighbourhood::rank);
}

std::vector<OwnBlock> own_blocks(const Neighbourhood& neighbourhood) {
  std::unordered_map<std::int32_t, std::int32_t> ends;  // receive block of each edge to the rank itself, by edge number
  for (const Edge& edge : edges_in(neighbourhood))
    if (edge.peer == neighbourhood.rank) ends.emplace(edge.number, edge.block);
  std::vector<OwnBlock> all;
  for (const Edge& edge : edges_out(neighbourhood))
    if (edge.peer == neighbourhood.rank)
      if (const auto end = ends.find(edge.number); end != ends.end()) all.push_back({edge.block, end->second});
  return all;
}

}  // namespace swapmeet
