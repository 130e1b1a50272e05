/// Before digit x of dimension j, a block at place v has the coordinates of its destination in the dimensions before j,
/// and those of its source in the dimensions after j. Along j its distance from its source is given by the digits below
/// x. So the number of blocks that leave v with the offset o along j is a product of two numbers: the true sources with
/// the right coordinates from j on, and the true destinations with the right coordinates up to j.
#include "model/irregular.hpp"

#include <algorithm>

#include "topology/arrangement.hpp"

namespace swapmeet {

namespace {

/// A dimension of the grid, with the numbers of true places (that is, not proxies) that its digits need.
struct Axis {
  std::int32_t size, stride;
  std::vector<std::int64_t> sources;  ///< true places by their coordinates from this dimension on: place / stride
  /// true places by their coordinates up to this dimension: place % (stride · size)
  std::vector<std::int64_t> destinations;
};

std::vector<Axis> axes(const Arrangement& grid) {
  std::vector<Axis> all;
  std::int32_t stride = 1;
  for (const std::int32_t size : grid.sizes) {
    Axis axis{size, stride, {}, {}};
    axis.sources.resize(static_cast<std::size_t>(grid.places() / stride));
    stride *= size;
    axis.destinations.resize(static_cast<std::size_t>(stride));
    for (const std::int32_t place : grid.place_of) {
      ++axis.sources[static_cast<std::size_t>(place / axis.stride)];
      ++axis.destinations[static_cast<std::size_t>(place % stride)];
    }
    all.push_back(std::move(axis));
  }
  return all;
}

/// Returns the number of blocks that leave `place` by the value z of this digit.
std::int64_t leaving(const Axis& axis, const Digit& digit, std::int32_t z, std::int32_t place) {
  const std::int32_t along = place / axis.stride % axis.size;
  const std::int32_t before = place % axis.stride, behind = place / axis.stride / axis.size * axis.size;
  const std::int64_t period = std::int64_t{digit.weight} * digit.radix;
  std::int64_t blocks = 0;
  for (std::int64_t base = std::int64_t{z} * digit.weight; base < axis.size; base += period)
    for (std::int32_t done = 0; done < digit.weight && base + done < axis.size; ++done) {
      const std::int32_t source = (along - done + axis.size) % axis.size;
      const auto destination = static_cast<std::int32_t>((along + base) % axis.size);
      blocks += axis.sources[static_cast<std::size_t>(behind + source)] *
                axis.destinations[static_cast<std::size_t>(before + destination * axis.stride)];
    }
  return blocks;
}

void keep_most(std::vector<std::int64_t>& most, const std::vector<std::int64_t>& now) {
  std::ranges::transform(most, now, most.begin(), [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}

}  // namespace

void for_each_move(const Arrangement& grid, const std::vector<Digit>& digits,
                   const std::function<void(const Digit&, std::int32_t)>& begin,
                   const std::function<void(const Digit&, Rank, Rank, std::int64_t)>& use) {
  const std::vector<Axis> all_axes = axes(grid);
  for (const Digit& digit : digits) {
    const Axis& axis = all_axes[digit.dimension];
    for (std::int32_t z = 1; z < digit.radix; ++z) {
      begin(digit, z);
      for (std::int32_t place = 0; place < grid.places(); ++place) {
        const std::int64_t blocks = leaving(axis, digit, z, place);
        if (blocks == 0) continue;
        const std::int32_t along = place / axis.stride % axis.size;
        const std::int32_t move = (along + z * digit.weight) % axis.size - along;
        use(digit, grid.rank_at[static_cast<std::size_t>(place)],
            grid.rank_at[static_cast<std::size_t>(place + move * axis.stride)], blocks);
      }
    }
  }
}

IrregularCounts count_irregular_grid(const Spec& spec, const Shape& shape, const std::vector<Digit>& digits) {
  const Arrangement grid = arrange(spec.dimensions, shape);
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  const bool packs = spec.packing == Packing::memcpy, twin = spec.layout == Layout::zero_copy;
  IrregularCounts most;
  std::vector<Tally> totals(ranks), now(ranks);  // now: sent in this round
  std::vector<std::int64_t> held(ranks, 0), stage(ranks, 0), staged(ranks, 0);
  for (const Rank rank : grid.rank_at) ++held[static_cast<std::size_t>(rank)];
  const auto end_round = [&] {
    Tally round;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const Tally sent = std::exchange(now[rank], {});
      round.keep_most(sent);
      totals[rank].add(sent.messages, sent.blocks);
    }
    most.rounds.back().messages = round.messages;
    most.rounds.back().blocks = round.blocks;
  };
  const auto begin = [&](const Digit& digit, std::int32_t z) {
    if (!most.rounds.empty()) end_round();
    if (z == 1) keep_most(stage, std::exchange(staged, std::vector<std::int64_t>(ranks, 0)));
    most.rounds.push_back({static_cast<std::int32_t>(digit.dimension), digit.number, digit.weight, z, 0, 0});
  };
  for_each_move(grid, digits, begin, [&](const Digit& digit, Rank source, Rank target, std::int64_t blocks) {
    const bool lands = !packs && (twin || (spec.layout == Layout::zero_rotation && &digit == &digits.front()));
    const bool staggered = spec.grouping == Grouping::staggered && digit.dimension + 1 == grid.sizes.size();
    const auto from = static_cast<std::size_t>(source), to = static_cast<std::size_t>(target);
    if (packs || from == to) staged[from] += blocks;
    if (from == to) return;
    if (!lands) staged[to] += blocks;
    now[from].add(staggered ? blocks : 1, blocks);
  });
  if (!most.rounds.empty()) end_round();
  keep_most(stage, staged);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    most.sent.keep_most(totals[rank]);
    most.scratch_blocks = std::max(most.scratch_blocks, held[rank] * grid.places() * (twin ? 2 : 1) + stage[rank]);
  }
  return most;
}

}  // namespace swapmeet
