/// Node maps that a person writes: which rank is on which node.
#pragma once

#include <string_view>
#include <vector>

#include "schedule/result.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// The node of each of `ranks` ranks, shape (ranks,). `text` is the number of ranks on each node in order, such as 4+2 or
/// 8 (the last number is repeated), or cyclic:3 (three nodes, dealt out in turn), or the node of each rank, such as
/// 0,1,0,2 (the list is repeated), or "" (all on one node).
Result<std::vector<std::int32_t>> parse_node_map(std::string_view text, Rank ranks);

}  // namespace swapmeet
