#include "proofs/scratch.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "model/counts.hpp"
#include "model/proxy_moves.hpp"
#include "model/unlike_ranks.hpp"
#include "schedule/placement.hpp"
#include "topology/leader_map.hpp"

namespace swapmeet {

namespace {

constexpr Rank most_looked_at = 1024;  ///< ranks whose schedules are generated for an exact answer

/// Returns the number of scratch blocks that a digit may stage: all departing blocks (if packed) and all arriving ones.
/// Messages of one block need no packing.
std::int64_t staged(const Spec& spec, const Digit& digit, std::int64_t size, std::int64_t ranks, bool first) {
  const std::int64_t moved = (size - offsets_with(digit, size, 0)) * (ranks / size);
  // Arriving blocks need no staging if departing blocks leave from the send buffer or from the other copy of a slot:
  // their final places are then free.
  const bool lands = spec.layout == Layout::zero_copy || (spec.layout == Layout::zero_rotation && first);
  if (spec.packing == Packing::datatype) return lands ? 0 : moved;
  std::int64_t singles = 0;
  if (size == ranks && digit.weight == 1 && size < 2 * digit.radix)
    singles = digit.radix - std::max<std::int64_t>(1, size - digit.radix);  // the other messages have two blocks
  return 2 * (moved - singles) + (lands ? 0 : singles);
}

std::int64_t scratch_of_grid(const Spec& spec, std::int64_t ranks, const std::vector<std::int32_t>& sizes) {
  const std::vector<Digit> digits = digits_along(spec.radices, sizes);
  std::int64_t stage = 0;
  for (const Digit& digit : digits)
    stage = std::max(stage, staged(spec, digit, sizes[digit.dimension], ranks, &digit == &digits.front()));
  return (spec.layout == Layout::basic || spec.layout == Layout::zero_copy ? ranks : 0) + stage;
}

std::int64_t scratch_with_proxies(const Spec& spec, const Shape& shape) {
  const Arrangement grid = arrange(spec.dimensions, shape);
  const std::vector<Digit> digits = digits_along(spec.radices, grid.sizes);
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  const bool packs = spec.packing == Packing::memcpy, twin = spec.layout == Layout::zero_copy;
  std::vector<std::int64_t> held(ranks), stage(ranks), staged(ranks);  // staged: in this digit
  for (const Rank rank : grid.rank_at) ++held[static_cast<std::size_t>(rank)];
  const auto end_digit = [&] {
    for (std::size_t rank = 0; rank < ranks; ++rank)
      stage[rank] = std::max(stage[rank], std::exchange(staged[rank], 0));
  };
  const auto begin = [&](const Digit&) { end_digit(); };
  for_each_move(spec, grid, digits, begin, [&](const Moved& moved) {
    const bool lands = !packs && (twin || (spec.layout == Layout::zero_rotation && &moved.digit == &digits.front()));
    const auto from = static_cast<std::size_t>(moved.from), to = static_cast<std::size_t>(moved.to);
    if (packs || from == to) staged[from] += moved.blocks;
    if (from != to && !lands) staged[to] += moved.blocks;
  });
  end_digit();
  std::int64_t most = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    most = std::max(most, held[rank] * grid.places() * (twin ? 2 : 1) + stage[rank]);
  return most;
}

bool consecutive(std::span<const Rank> ranks) {
  return std::ranges::adjacent_find(ranks, [](Rank one, Rank next) { return next != one + 1; }) == ranks.end();
}

/// The scratch blocks of leaders and of other members.
class ScratchOfLeaders {
 public:
  ScratchOfLeaders(const Spec& spec, const Shape& shape)
      : map_(shape, spec.leaders), packs_(spec.packing == Packing::memcpy),
        packs_within_(packs_ && spec.intra == Transport::mpi) {
    for (std::int32_t node = 0; node < map_.nodes(); ++node) {
      if (!consecutive(map_.members(node))) apart_in_nodes_ += map_.size(node);
      for (std::int32_t number = 0; number < map_.leaders(node); ++number) {
        const auto members = map_.members(Group{node, number});
        if (!consecutive(members)) apart_in_groups_ += static_cast<std::int64_t>(members.size());
      }
    }
  }

  std::int64_t most() const {
    std::int64_t most = 0;
    for (std::int32_t node = 0; node < map_.nodes(); ++node) {
      std::vector<Served> loads;
      std::int64_t packed = 0;  // by a rank for all leaders, including its own leader
      for (std::int32_t leader = 0; leader < map_.leaders(node); ++leader) {
        const Served& load = loads.emplace_back(served(node, leader));
        if (packs_within_ && !load.contiguous) packed += load.destinations;
      }
      for (std::int32_t leader = 0; leader < map_.leaders(node); ++leader)
        most = std::max(most, of_leader(node, leader, loads[static_cast<std::size_t>(leader)], packed));
      if (map_.size(node) > map_.leaders(node) && packs_within_)
        most = std::max({most, packed, others_follow(node) ? 0 : elsewhere(node)});
    }
    return most;
  }

 private:
  /// The ranks of other nodes to which a leader sends blocks.
  struct Served {
    std::int64_t groups = 0, destinations = 0;
    bool contiguous = true;  ///< whether they are consecutive
  };

  std::int64_t elsewhere(std::int32_t node) const {
    return static_cast<std::int64_t>(map_.ranks().size()) - map_.size(node);
  }

  Served served(std::int32_t node, std::int32_t leader) const {
    Served all{map_.served_count(node, leader)};
    Rank last = 0;
    for (const Group group : map_.served(node, leader)) {
      const auto members = map_.members(group);  // in order
      const auto size = static_cast<Rank>(members.size());
      const bool follows = all.destinations == 0 || members.front() == last + 1;
      all.contiguous = all.contiguous && follows && members.back() - members.front() + 1 == size;
      all.destinations += size;
      last = members.back();
    }
    return all;
  }

  std::int64_t of_leader(std::int32_t node, std::int32_t leader, const Served& load, std::int64_t packed) const {
    const auto members = static_cast<std::int64_t>(map_.members(Group{node, leader}).size());
    const std::int64_t size = map_.size(node);
    const std::int64_t arrives = members > 1 ? members * elsewhere(node) : 0;
    const std::int64_t leaves = size > 1 ? size * load.destinations : 0;
    std::int64_t gathering = 0, exchanging = 0, scattering = 0;
    if (packs_within_ && size > 1) {
      gathering = packed - (load.contiguous ? 0 : load.destinations);
      if (load.groups > 1) gathering += (size - 1) * load.destinations;
      scattering = (members - 1) * elsewhere(node);
    }
    if (packs_ && size == 1) exchanging += apart_in_groups_;
    if (packs_ && members == 1) exchanging += apart_in_nodes_ - (consecutive(map_.members(node)) ? 0 : size);
    return arrives + std::max(leaves + std::max(gathering, exchanging), scattering);
  }

  /// Whether the ranks of all other nodes, node by node, are consecutive. They can only be for the first and the last
  /// node.
  bool others_follow(std::int32_t node) const {
    const auto first = static_cast<std::size_t>(map_.first(node)), end = first + map_.members(node).size();
    const std::span<const Rank> all = map_.ranks();
    return (first == 0 && consecutive(all.subspan(end))) || (end == all.size() && consecutive(all.first(first)));
  }

  LeaderMap map_;
  bool packs_, packs_within_;
  /// number of ranks of nodes (groups) whose ranks are not consecutive
  std::int64_t apart_in_nodes_ = 0, apart_in_groups_ = 0;
};

}  // namespace

std::int64_t scratch_ceiling(const Spec& spec, const Shape& shape) {
  if (spec.family == Family::direct) return 0;
  if (spec.family == Family::leaders) return ScratchOfLeaders(spec, shape).most();
  if (has_closed_form(spec)) {
    const Extent grid = extent(spec.dimensions, shape);
    return grid.places == shape.ranks ? scratch_of_grid(spec, shape.ranks, grid.sizes)
                                      : scratch_with_proxies(spec, shape);
  }
  // The flows of ranks that are alike differ in the blocks that they stage only.
  if (alike_on(spec, shape)) return scratch_anywhere(algorithm_of(spec.family).flow(spec, shape, 0), spec, shape);
  std::int64_t most = 0;
  for (Rank rank = 0; rank < shape.ranks; ++rank)
    most = std::max<std::int64_t>(most, generate(spec, shape, rank).scratch_blocks);
  return most;
}

bool within_scratch_limit(const Spec& spec, const Shape& shape, std::int64_t block_bytes, const Options& options) {
  if (spec.family == Family::native) return true;
  const bool sends_as_they_lie =
      spec.family == Family::direct && spec.segment_bytes == 0 && spec.intra == Transport::mpi;
  const auto fits = [&](std::int64_t scratch_blocks) {
    return within_scratch_limit(2 * std::int64_t{shape.ranks} + scratch_blocks, block_bytes, options);
  };
  if (sends_as_they_lie || fits(scratch_ceiling(spec, shape))) return true;
  if (!fits(0) || shape.ranks > most_looked_at) return false;
  for (Rank rank = 0; rank < shape.ranks; ++rank)
    if (!fits(generate(spec, shape, rank).scratch_blocks)) return false;
  return true;
}

}  // namespace swapmeet
