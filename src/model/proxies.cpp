/// Counts exchanges on grids with proxies (proxy_moves.hpp).
#include <utility>

#include "model/proxy_moves.hpp"
#include "model/unlike_ranks.hpp"

namespace swapmeet {

void count_proxies(const Spec& spec, const Shape& shape, const std::vector<Digit>& digits, Counts& most) {
  std::vector<Volume> sent(static_cast<std::size_t>(shape.ranks));
  for_each_move(
      spec, arrange(spec.dimensions, shape), digits, [](const Digit&) {},
      [&](const Moved& moved) {
        if (moved.from != moved.to) sent[static_cast<std::size_t>(moved.from)].add(moved.messages, moved.blocks);
      });
  Volume largest;
  for (const Volume& one : sent) largest.keep_most(one);
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
