/// Counts exchanges on grids with proxies.
///
/// Before digit x of dimension j, a block at place v has the coordinates of its destination in the dimensions before j,
/// and those of its source in the dimensions after j. Along j its distance from its source is given by the digits below
/// x. So the number of blocks that leave v with the offset o along j is a product of two numbers: the true sources with
/// the right coordinates from j on, and the true destinations with the right coordinates up to j.
#include <utility>

#include "model/unlike_ranks.hpp"

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

/// The blocks that move between two places by one value of a digit, in one message.
struct Moved {
  const Digit& digit;
  Rank from, to;  ///< ranks of the places, which may be the same
  std::int64_t messages, blocks;
};

/// Calls use(Moved) for all values of all digits, and begin(digit) before each digit.
void for_each_move(const Spec& spec, const Arrangement& grid, const std::vector<Digit>& digits, auto begin, auto use) {
  const std::vector<Axis> all_axes = axes(grid);
  for (const Digit& digit : digits) {
    const Axis& axis = all_axes[digit.dimension];
    const bool staggered = spec.grouping == Grouping::staggered && digit.dimension + 1 == grid.sizes.size();
    begin(digit);
    for (std::int32_t z = 1; z < digit.radix; ++z)
      for (std::int32_t place = 0; place < grid.places(); ++place) {
        const std::int64_t blocks = leaving(axis, digit, z, place);
        if (blocks == 0) continue;
        const std::int32_t along = place / axis.stride % axis.size;
        const std::int32_t move = (along + z * digit.weight) % axis.size - along;
        use(Moved{digit, grid.rank_at[static_cast<std::size_t>(place)],
                  grid.rank_at[static_cast<std::size_t>(place + move * axis.stride)], staggered ? blocks : 1, blocks});
      }
  }
}

}  // namespace

void count_proxies(const Spec& spec, const Shape& shape, const std::vector<Digit>& digits, Counts& most) {
  const Arrangement grid = arrange(spec.dimensions, shape);
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  const bool packs = spec.packing == Packing::memcpy, twin = spec.layout == Layout::zero_copy;
  std::vector<Volume> sent(ranks);
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
    if (from == to) return;
    if (!lands) staged[to] += moved.blocks;
    sent[from].add(moved.messages, moved.blocks);
  });
  end_digit();
  Volume largest;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    largest.keep_most(sent[rank]);
    most.scratch_blocks = std::max(most.scratch_blocks, held[rank] * grid.places() * (twin ? 2 : 1) + stage[rank]);
  }
  most.messages = largest.messages;
  most.blocks = largest.blocks;
}

void proxy_work(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work) {
  const Arrangement grid = arrange(spec.dimensions, shape);
  PhaseTally tally(shape.ranks, nodes);
  std::vector<std::int64_t> copied(static_cast<std::size_t>(shape.ranks));
  std::int64_t of_digit = 0;  // batches: the window counts positions (bruck.cpp)
  const auto begin = [&](const Digit& digit) {
    append(tally.take(), std::exchange(of_digit, batches(digit.radix - 1, spec.window)), work);
  };
  for_each_move(spec, grid, digits_along(spec.radices, grid.sizes), begin, [&](const Moved& moved) {
    copied[static_cast<std::size_t>(moved.from)] += moved.blocks;
    if (moved.from == moved.to) return;
    copied[static_cast<std::size_t>(moved.to)] += moved.blocks;
    tally.add(moved.from, moved.to, moved.messages, moved.blocks);
  });
  append(tally.take(), of_digit, work);
  work.packed.blocks = work.packed.pieces = static_cast<double>(std::ranges::max(copied));
}

}  // namespace swapmeet
