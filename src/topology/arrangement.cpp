#include "topology/arrangement.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "topology/nodes.hpp"

namespace swapmeet {

namespace {

/// A dimension of the grid, which belongs to one level of the hierarchy. The members of a group of this level are the
/// groups of the level below; at the lowest level they are ranks.
struct Axis {
  // for each rank: index of its member in the group, in the order of the members' first ranks
  std::vector<std::int32_t> coordinate;
  std::vector<std::int32_t> members;  // for each rank: number of members of its group
  std::int32_t size = 1;              // largest number of members of any group

  /// Returns the number of coordinates that belong to this rank's member. The members of a group share its missing
  /// places in turn.
  std::int32_t held(std::size_t rank) const { return (size - 1 - coordinate[rank]) / members[rank] + 1; }
};

/// Makes the dimension of some groups of ranks, whose members are smaller groups of ranks.
Axis axis(const Nodes& members, const Nodes& groups, Rank ranks) {
  Axis axis;
  std::vector<std::int32_t> number(static_cast<std::size_t>(members.count()), -1),
      found(static_cast<std::size_t>(groups.count()));  // members of each group
  for (Rank rank = 0; rank < ranks; ++rank) {
    std::int32_t& known = number[static_cast<std::size_t>(members.of(rank))];
    if (known < 0) known = found[static_cast<std::size_t>(groups.of(rank))]++;
    axis.coordinate.push_back(known);
  }
  for (Rank rank = 0; rank < ranks; ++rank) axis.members.push_back(found[static_cast<std::size_t>(groups.of(rank))]);
  axis.size = std::ranges::max(found);
  return axis;
}

/// Returns the dimensions of a hierarchy, innermost first. The members of the last dimension are the outermost groups,
/// which together form one group.
std::vector<Axis> axes(const Dimensions& dimensions, const Shape& shape) {
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  std::vector<std::int32_t> each(ranks);
  std::iota(each.begin(), each.end(), 0);
  Hierarchy levels = shape.hierarchy;
  if (dimensions.kind == Dimensions::Kind::groups) {
    levels.assign(dimensions.sizes.size(), each);
    for (std::size_t l = 0; l < levels.size(); ++l)
      for (std::int32_t& group : levels[l]) group /= dimensions.sizes[l];
  } else if (levels.empty()) {
    levels.emplace_back(ranks, 0);  // one node
  }
  levels.emplace_back(ranks, 0);
  std::vector<Axis> all;
  Nodes members(each);
  for (const std::vector<std::int32_t>& level : levels) {
    Nodes groups(level);
    all.push_back(axis(members, groups, shape.ranks));
    members = std::move(groups);
  }
  return all;
}

Arrangement regular(std::vector<std::int32_t> sizes, Rank ranks) {
  Arrangement grid{std::move(sizes), std::vector<Rank>(static_cast<std::size_t>(ranks)), {}};
  std::iota(grid.rank_at.begin(), grid.rank_at.end(), 0);
  grid.place_of = grid.rank_at;
  return grid;
}

/// Assigns the missing places of each group to its members in turn.
void fill_up(Arrangement& grid) {
  std::ptrdiff_t unit = 1;  // number of places of a member
  for (const std::int32_t size : grid.sizes) {
    const std::ptrdiff_t all = unit * size;
    for (auto group = grid.rank_at.begin(); group != grid.rank_at.end(); group += all) {
      std::ptrdiff_t filled = 0;
      while (filled < all && group[filled] >= 0) filled += unit;
      if (filled == 0) continue;  // the group itself is missing in a larger group
      for (std::ptrdiff_t i = filled; i < all; ++i) group[i] = group[i - filled];
    }
    unit = all;
  }
}

Arrangement hierarchical(const Dimensions& dimensions, const Shape& shape) {
  Arrangement grid{{}, {}, std::vector<std::int32_t>(static_cast<std::size_t>(shape.ranks), 0)};
  std::int32_t stride = 1;
  for (const Axis& axis : axes(dimensions, shape)) {
    for (std::size_t rank = 0; rank < grid.place_of.size(); ++rank)
      grid.place_of[rank] += axis.coordinate[rank] * stride;
    grid.sizes.push_back(axis.size);
    stride *= axis.size;
  }
  grid.rank_at.assign(static_cast<std::size_t>(stride), -1);
  for (Rank rank = 0; rank < shape.ranks; ++rank)
    grid.rank_at[static_cast<std::size_t>(grid.place_of[static_cast<std::size_t>(rank)])] = rank;
  if (stride != shape.ranks) fill_up(grid);
  return grid;
}

/// Makes the digits of one dimension balanced. A digit with an even radix has one value more in one direction. This
/// direction alternates between forward and backward, so that all digits together reach about equally far in both.
void balance(std::span<Digit> digits) {
  std::int64_t low = 0, reached = 1;
  for (Digit& digit : digits) {
    digit.least = (digit.radix - (digit.number % 2 == 0)) / 2;
    low += std::int64_t{digit.least} * digit.weight;
    reached *= digit.radix;
  }
  for (Digit& digit : digits) {
    // Offsets modulo `size` are represented by the moves -back to size - 1 - back. They are as short as the digits
    // allow.
    const std::int64_t size = digit.size, back = std::clamp((size - 1) / 2, low - (reached - size), low);
    digit.low = static_cast<std::int32_t>(low);
    digit.ahead = static_cast<std::int32_t>(size - back);
  }
}

std::int32_t root(std::int32_t size) {  // square root, rounded up
  std::int32_t r = 1;
  while (std::int64_t{r} * r < size) ++r;
  return r;
}

}  // namespace

std::vector<std::int32_t> equal_factors(std::int32_t product, std::int32_t count) {
  std::vector<std::int32_t> factors;
  for (std::int32_t left = count; left > 1; --left) {
    // The smallest divisor that is at least the left-th root of the remaining product.
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

std::vector<std::int32_t> Arrangement::all_shifted(std::int32_t place, std::int32_t sign) const {
  std::vector<std::int32_t> all{0};
  all.reserve(rank_at.size());
  for (const std::int32_t size : sizes) {
    const std::size_t stride = all.size();  // number of offsets that are 0 from this dimension on
    all.resize(stride * static_cast<std::size_t>(size));
    const std::int32_t along = place % size;
    place /= size;
    for (std::int32_t offset = size; offset-- > 0;) {  // 0 comes last, because the others are computed from its entries
      const std::int32_t to = (along + sign * offset + size) % size * static_cast<std::int32_t>(stride);
      std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(stride),
                     all.begin() + static_cast<std::ptrdiff_t>(stride) * offset,
                     [to](std::int32_t inner) { return inner + to; });
    }
  }
  return all;
}

Extent extent(const Dimensions& dimensions, const Shape& shape) {
  switch (dimensions.kind) {
    case Dimensions::Kind::one: return {{shape.ranks}, shape.ranks};
    case Dimensions::Kind::given: return {dimensions.sizes, shape.ranks};
    case Dimensions::Kind::automatic: return {equal_factors(shape.ranks, dimensions.sizes[0]), shape.ranks};
    case Dimensions::Kind::nodes:
    case Dimensions::Kind::groups: break;
  }
  constexpr std::int64_t most = std::int64_t{1} << 31;
  Extent extent;
  std::vector<std::int64_t> held(static_cast<std::size_t>(shape.ranks), 1);
  for (const Axis& axis : axes(dimensions, shape)) {
    extent.sizes.push_back(axis.size);
    extent.places = std::min(most, extent.places * axis.size);
    for (std::size_t rank = 0; rank < held.size(); ++rank) held[rank] = std::min(most, held[rank] * axis.held(rank));
  }
  extent.held = std::ranges::max(held);
  return extent;
}

Arrangement arrange(const Dimensions& dimensions, const Shape& shape) {
  using Kind = Dimensions::Kind;
  if (dimensions.kind == Kind::nodes || dimensions.kind == Kind::groups) return hierarchical(dimensions, shape);
  return regular(extent(dimensions, shape).sizes, shape.ranks);
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

std::vector<Digit> digits_along(const std::vector<Radices>& radices, const std::vector<std::int32_t>& sizes,
                                Digits form) {
  std::vector<Digit> digits;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const std::size_t first = digits.size();
    std::int32_t weight = 1, number = 0;
    for (const std::int32_t radix : digits_of(radices, d, sizes[d])) {
      digits.push_back({d, number++, weight, radix, sizes[d]});
      weight *= radix;
    }
    if (form == Digits::balanced) balance(std::span(digits).subspan(first));
  }
  return digits;
}

}  // namespace swapmeet
