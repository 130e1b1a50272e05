/// Node maps that a person writes: which rank is on which node, and which nodes are together.
#pragma once

#include <string_view>

#include "schedule/result.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// The hierarchy of `ranks` ranks. `text` has a level, or several between "/", the innermost first, each of which is
/// the number of ranks of each group in order, such as 4+2 or 8 (the last number is repeated), or cyclic:3 (three
/// groups, dealt out in turn), or the group of each rank, such as 0,1,0,2. 2/8 is groups of two ranks in groups of
/// eight; "" no level.
Result<Hierarchy> parse_node_map(std::string_view text, Rank ranks);

}  // namespace swapmeet
