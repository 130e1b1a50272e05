/// Parser of node maps written by people: the node of each rank, and the groups of nodes.
#pragma once

#include <string_view>

#include "schedule/result.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// Returns the hierarchy of `ranks` ranks. `text` has a level, or several separated by "/", innermost first. A level
/// has one of these forms:
///   4+2 or 8      number of ranks of each group, in order; the last number is repeated
///   cyclic:3      three groups, to which ranks are assigned in turn
///   0,1,0,2       the group of each rank
/// For example, 2/8 means groups of two ranks in groups of eight. "" has no level.
Result<Hierarchy> parse_node_map(std::string_view text, Rank ranks);

}  // namespace swapmeet
