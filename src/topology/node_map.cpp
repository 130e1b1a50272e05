#include "topology/node_map.hpp"

#include <algorithm>
#include <charconv>

namespace swapmeet {

namespace {

constexpr std::string_view cyclic = "cyclic:";

/// The numbers between separators; empty if one is wrong.
std::vector<std::int32_t> numbers(std::string_view text, char separator, std::int32_t least) {
  std::vector<std::int32_t> all;
  const char *at = text.data(), *const end = at + text.size();
  while (true) {
    std::int32_t number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < least) return {};
    all.push_back(number);
    if (stop == end) return all;
    if (*stop != separator) return {};
    at = stop + 1;
  }
}

}  // namespace

Result<std::vector<std::int32_t>> parse_node_map(std::string_view text, Rank ranks) {
  std::vector<std::int32_t> node_of;
  if (text.empty()) return node_of;
  const Problem problem{"expected the ranks of each node, such as 8 or 4+2, or cyclic:3, or each rank's node, such as 0,1,0,2",
                        0, 1};
  if (text.find(',') != std::string_view::npos) {
    const std::vector<std::int32_t> nodes = numbers(text, ',', 0);
    if (nodes.empty()) return problem;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
      node_of.push_back(nodes[rank % nodes.size()]);
    return node_of;
  }
  const bool in_turn = text.starts_with(cyclic);
  const std::vector<std::int32_t> sizes = numbers(in_turn ? text.substr(cyclic.size()) : text, '+', 1);
  if (sizes.empty() || (in_turn && sizes.size() != 1)) return problem;
  std::int32_t node = 0, left = sizes[0];
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (in_turn) {
      node_of.push_back(rank % sizes[0]);
      continue;
    }
    if (left == 0) left = sizes[std::min<std::size_t>(static_cast<std::size_t>(++node), sizes.size() - 1)];
    node_of.push_back(node);
    --left;
  }
  return node_of;
}

}  // namespace swapmeet
