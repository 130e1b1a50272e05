#include "topology/neighbourhood.hpp"

#include <unordered_map>

namespace swapmeet {

namespace {

/// `partner`: on a grid, what turns the number of a block into that of the block sent.
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

}  // namespace swapmeet
