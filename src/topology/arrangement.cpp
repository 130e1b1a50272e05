#include "topology/arrangement.hpp"

#include <algorithm>
#include <numeric>

namespace swapmeet {

namespace {

/// The groups of a hierarchy: `group_of[l][r]` is the group of rank r at level l, level 0 the innermost, each group lying
/// within one of the next level. The ranks themselves are below level 0.
using Hierarchy = std::vector<std::vector<std::int32_t>>;

/// A group (or rank) of the hierarchy.
struct Member {
  Rank rank = -1;  // of a leaf
  std::vector<Member> members;
};

/// The members of the group that holds `ranks`, split by level `level` - 1 and so on down.
Member tree(const Hierarchy& groups, std::size_t level, const std::vector<Rank>& ranks) {
  Member group;
  if (level == 0) {
    for (const Rank rank : ranks) group.members.push_back({rank, {}});
    return group;
  }
  const auto& ids = groups[level - 1];
  std::vector<std::int32_t> order;  // group numbers by their first rank
  std::vector<std::vector<Rank>> parts;
  for (const Rank rank : ranks) {
    const std::int32_t id = ids[static_cast<std::size_t>(rank)];
    const auto known = static_cast<std::size_t>(std::ranges::find(order, id) - order.begin());
    if (known == order.size()) order.push_back(id), parts.emplace_back();
    parts[known].push_back(rank);
  }
  for (const auto& part : parts) group.members.push_back(tree(groups, level - 1, part));
  return group;
}

/// sizes[l]: the most members that a group of level l has.
void measure(const Member& group, std::size_t level, std::vector<std::int32_t>& sizes) {
  sizes[level] = std::max(sizes[level], static_cast<std::int32_t>(group.members.size()));
  if (level > 0)
    for (const Member& member : group.members) measure(member, level - 1, sizes);
}

/// Who is at the place with these coordinates, innermost first. Where a group has too few members, they take the missing
/// places in turn.
Rank occupant(const Member& top, const std::vector<std::int32_t>& coordinates) {
  const Member* group = &top;
  for (std::size_t level = coordinates.size(); level-- > 0;)
    group = &group->members[static_cast<std::size_t>(coordinates[level]) % group->members.size()];
  return group->rank;
}

Arrangement regular(std::vector<std::int32_t> sizes, Rank ranks) {
  Arrangement grid{std::move(sizes), std::vector<Rank>(static_cast<std::size_t>(ranks)), {}};
  std::iota(grid.rank_at.begin(), grid.rank_at.end(), 0);
  grid.place_of = grid.rank_at;
  return grid;
}

Arrangement hierarchical(const Hierarchy& groups, Rank ranks) {
  std::vector<Rank> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  const Member top = tree(groups, groups.size(), all);
  Arrangement grid;
  grid.sizes.assign(groups.size() + 1, 0);
  measure(top, groups.size(), grid.sizes);
  const std::int32_t places = std::accumulate(grid.sizes.begin(), grid.sizes.end(), 1, std::multiplies{});
  grid.place_of.assign(all.size(), -1);
  std::vector<std::int32_t> coordinates(grid.sizes.size(), 0);
  for (std::int32_t place = 0; place < places; ++place) {
    const Rank rank = occupant(top, coordinates);
    grid.rank_at.push_back(rank);
    // A rank's own place comes first: it carries only places with a larger coordinate.
    if (grid.place_of[static_cast<std::size_t>(rank)] < 0) grid.place_of[static_cast<std::size_t>(rank)] = place;
    for (std::size_t d = 0; d < coordinates.size() && ++coordinates[d] == grid.sizes[d]; ++d) coordinates[d] = 0;
  }
  return grid;
}

Hierarchy hierarchy(const Dimensions& dimensions, const Shape& shape) {
  if (dimensions.kind == Dimensions::Kind::nodes)
    return {shape.node_of.empty() ? std::vector<std::int32_t>(static_cast<std::size_t>(shape.ranks), 0) : shape.node_of};
  Hierarchy groups;
  for (const std::int32_t size : dimensions.sizes) {
    groups.emplace_back();
    for (Rank rank = 0; rank < shape.ranks; ++rank) groups.back().push_back(rank / size);
  }
  return groups;
}

std::int32_t root(std::int32_t size) {  // rounded up
  std::int32_t r = 1;
  while (std::int64_t{r} * r < size) ++r;
  return r;
}

}  // namespace

std::vector<std::int32_t> equal_factors(std::int32_t product, std::int32_t count) {
  std::vector<std::int32_t> factors;
  for (std::int32_t left = count; left > 1; --left) {
    // The smallest divisor that is at least the left-th root of what remains.
    std::int32_t factor = 1;
    const auto reaches = [&](std::int64_t base) {
      std::int64_t power = 1;
      for (std::int32_t i = 0; i < left && power < product; ++i) power *= base;
      return power >= product;
    };
    while (product % factor != 0 || !reaches(factor)) ++factor;
    factors.push_back(factor);
    product /= factor;
  }
  factors.push_back(product);
  std::ranges::sort(factors, std::greater{});
  return factors;
}

Arrangement arrange(const Dimensions& dimensions, const Shape& shape) {
  switch (dimensions.kind) {
    case Dimensions::Kind::one: return regular({shape.ranks}, shape.ranks);
    case Dimensions::Kind::given: return regular(dimensions.sizes, shape.ranks);
    case Dimensions::Kind::automatic: return regular(equal_factors(shape.ranks, dimensions.sizes[0]), shape.ranks);
    case Dimensions::Kind::nodes:
    case Dimensions::Kind::groups: break;
  }
  return hierarchical(hierarchy(dimensions, shape), shape.ranks);
}

Radices digits_of(const std::vector<Radices>& radices, std::size_t dimension, std::int32_t size) {
  const Radices& asked = radices[std::min(dimension, radices.size() - 1)];
  Radices digits;
  std::int64_t covered = 1;
  while (covered < size) {
    const std::int32_t radix = asked[std::min(digits.size(), asked.size() - 1)];
    const std::int32_t number = radix == Radix::all ? size : radix == Radix::root ? std::max(2, root(size)) : radix;
    digits.push_back(std::min(number, static_cast<std::int32_t>((size + covered - 1) / covered)));
    covered *= digits.back();
  }
  return digits;
}

}  // namespace swapmeet
