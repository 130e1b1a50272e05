#include "topology/node_map.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/names.hpp"

namespace swapmeet {

namespace {

constexpr std::string_view cyclic = "cyclic:";

/// Returns the numbers between separators, or an empty list if one is missing, wrong or less than `least`.
std::vector<std::int32_t> numbers(std::string_view text, char separator, std::int32_t least) {
  std::vector<std::int32_t> all;
  const auto read = [&](std::string_view word) { return read_number(word, least, INT32_MAX, all.emplace_back()); };
  if (!read_list(text, separator, read)) all.clear();
  return all;
}

/// Returns the group of each rank at one level.
Result<std::vector<std::int32_t>> parse_level(std::string_view text, Rank ranks) {
  const Problem problem{
      "expected the ranks of each node, such as 8 or 4+2, or cyclic:3, or each rank's node, such as 0,1,0,2; or "
      "several such levels between \"/\", the innermost first"};
  if (text.find(',') != std::string_view::npos) {
    std::vector<std::int32_t> groups = numbers(text, ',', 0);
    if (groups.empty()) return problem;
    if (groups.size() != static_cast<std::size_t>(ranks))
      return Problem{"names " + std::to_string(groups.size()) + " ranks, but there are " + std::to_string(ranks)};
    return groups;
  }
  const bool in_turn = text.starts_with(cyclic);
  const std::vector<std::int32_t> sizes = numbers(in_turn ? text.substr(cyclic.size()) : text, '+', 1);
  if (sizes.empty() || (in_turn && sizes.size() != 1)) return problem;
  std::vector<std::int32_t> groups;
  std::int32_t group = 0, left = sizes[0];
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (in_turn) {
      groups.push_back(rank % sizes[0]);
      continue;
    }
    if (left == 0) left = sizes[std::min<std::size_t>(static_cast<std::size_t>(++group), sizes.size() - 1)];
    groups.push_back(group);
    --left;
  }
  return groups;
}

/// Returns why `outer` cannot be the level above `inner`, which has the number `level`; "" if it can.
std::string not_within(const std::vector<std::int32_t>& inner, const std::vector<std::int32_t>& outer,
                       std::size_t level) {
  std::unordered_map<std::int32_t, std::size_t> first_of;  // first rank of each group
  for (std::size_t rank = 0; rank < inner.size(); ++rank) {
    const std::size_t first = first_of.try_emplace(inner[rank], rank).first->second;
    if (outer[rank] != outer[first])
      return "ranks " + std::to_string(first) + " and " + std::to_string(rank) + " are together at level " +
             std::to_string(level) + ", but not at level " + std::to_string(level + 1);
  }
  return "";
}

}  // namespace

Result<Hierarchy> parse_node_map(std::string_view text, Rank ranks) {
  Hierarchy levels;
  for (std::size_t begin = 0, end = 0; !text.empty() && end < text.size(); begin = end + 1) {
    end = std::min(text.find('/', begin), text.size());
    const auto at_level = [&](Problem problem) {
      problem.column = static_cast<int>(begin) + 1;
      return problem;
    };
    auto level = parse_level(text.substr(begin, end - begin), ranks);
    if (!level) return at_level(level.problem());
    if (!levels.empty())
      if (const std::string problem = not_within(levels.back(), *level, levels.size()); !problem.empty())
        return at_level({problem});
    levels.push_back(std::move(*level));
  }
  return levels;
}

}  // namespace swapmeet
