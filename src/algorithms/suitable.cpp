#include "algorithms/suitable.hpp"

#include <algorithm>
#include <bit>

#include "schedule/text.hpp"
#include "topology/arrangement.hpp"
#include "topology/leader_map.hpp"

namespace swapmeet {

namespace {

/// Why the groups of `dimensions` differ too much in size; "" if they do not. A small group's ranks carry the places
/// that it lacks: work and memory grow with the places that one rank holds times all places.
std::string too_unequal(const Dimensions& dimensions, const Shape& shape) {
  const Extent grid = extent(dimensions, shape);
  if (grid.held == 1 || grid.held * grid.places <= std::max<std::int64_t>(64 * std::int64_t{shape.ranks}, 4096))
    return "";
  return "its nodes or groups are too unequal: of " + std::to_string(grid.places) + " places, one rank would hold " +
         std::to_string(grid.held);
}

/// Why a leader would have more blocks in scratch than can be numbered; "" if it would not.
std::string too_much_to_lead(const Spec& spec, const Shape& shape) {
  const std::int64_t ranks = shape.ranks;
  if (4 * ranks * ranks + ranks <= INT32_MAX) return "";
  const LeaderMap map(shape, spec.leaders);
  const std::int64_t most = map.largest_group();
  std::int64_t all_leaders = 0;
  for (std::int32_t node = 0; node < map.nodes(); ++node) all_leaders += map.leaders(node);
  for (std::int32_t node = 0; node < map.nodes(); ++node) {
    const std::int64_t size = map.size(node), leaders = map.leaders(node);
    const std::int64_t arrives = ((size - 1) / leaders + 1) * (ranks - size);
    const std::int64_t served = std::min(((all_leaders - leaders - 1) / leaders + 1) * most, ranks - size);
    if (2 * (arrives + size * served) + ranks > INT32_MAX)  // twice: staged, too
      return "a node of " + std::to_string(size) + " ranks has too few leaders for so many blocks";
  }
  return "";
}

/// Why nodes cannot meet in the order of the topology; "" if they can, or are not asked to.
std::string no_order(const Spec& spec, const Shape& shape) {
  using Kind = Dimensions::Kind;
  if (spec.order != Order::topology) return "";
  const Dimensions& dimensions = spec.dimensions;
  const std::size_t levels =
      dimensions.kind == Kind::groups ? dimensions.sizes.size() : std::max<std::size_t>(shape.hierarchy.size(), 1);
  if (dimensions.kind != Kind::nodes && dimensions.kind != Kind::groups)
    return "order=topology is for exchanges between nodes here: it needs dims=nodes, or groups of one size (or the "
           "family direct)";
  if (levels != 1) return "order=topology needs nodes in one level, and there are " + std::to_string(levels);
  if (digits_of(spec.radices, 1, extent(dimensions, shape).sizes.back()).size() > 1)
    return "order=topology needs a direct exchange between nodes: r2=all";
  return "";
}

}  // namespace

std::string unsuitable(const Spec& spec, const Shape& shape) {
  const std::string p = std::to_string(shape.ranks);
  if (spec.family == Family::direct && spec.order == Order::exclusive_or &&
      !std::has_single_bit(static_cast<std::uint32_t>(shape.ranks)))
    return "order=xor needs a power of two of ranks, not " + p;
  if (spec.family == Family::leaders) return too_much_to_lead(spec, shape);
  if (spec.family != Family::bruck) {
    if (spec.sizes == Sizes::automatic || spec.sizes == Sizes::padded) return "";
    return "sizes=" + std::string(sizes_names[static_cast<std::size_t>(spec.sizes)]) +
           " is for the families bruck and leaders: in a direct exchange each end knows the sizes";
  }
  const Dimensions& dimensions = spec.dimensions;
  if (dimensions.kind == Dimensions::Kind::given) {
    std::int64_t product = 1;
    for (const std::int32_t size : dimensions.sizes) product = std::min<std::int64_t>(product * size, INT32_MAX);
    if (product != shape.ranks)
      return "the product of its dims is " + std::to_string(product) + ", but there are " + p + " ranks";
  }
  if (dimensions.kind == Dimensions::Kind::groups)
    for (std::size_t i = 1; i < dimensions.sizes.size(); ++i)
      if (dimensions.sizes[i] % dimensions.sizes[i - 1] != 0)
        return "groups of " + std::to_string(dimensions.sizes[i]) + " ranks cannot be made of groups of " +
               std::to_string(dimensions.sizes[i - 1]);
  if (const std::string problem = too_unequal(dimensions, shape); !problem.empty()) return problem;
  return no_order(spec, shape);
}

std::string unsuitable_for_sizes(const Spec& spec) {
  if (!needs_sizes(spec) || spec.sizes == Sizes::padded) return "";
  if (spec.packing == Packing::datatype) return "pack=datatype exchanges blocks of unequal size only with sizes=padded";
  if (spec.completion != Completion::all)
    return "complete=" + std::string(to_text(spec.completion)) +
           " exchanges blocks of unequal size only with sizes=padded";
  return "";
}

}  // namespace swapmeet
