/// Orders of messages of unequal size, as a colouring of weighted items: a slot takes as long as its largest message,
/// and the sum over all slots is minimized.
///
/// The search begins with a greedy colouring, the largest messages first (guan1997), or with the order of equal
/// messages if that is shorter. It then repeatedly lowers the length of one slot, possibly to nothing. Messages that
/// are too large for the slot move to others, by the moves of a partial colouring (bloechliger2008) in which no item
/// may become the largest of its slot.
#include <algorithm>
#include <chrono>
#include <numeric>

#include "network/flow_items.hpp"

namespace swapmeet {

namespace {

constexpr std::int64_t least_moves = 1000;  ///< moves of the first attempts

using Clock = std::chrono::steady_clock;

/// Returns the largest item of each colour.
std::vector<std::int64_t> slot_bytes(const Colours& colours, std::span<const std::int64_t> bytes) {
  std::vector<std::int64_t> largest(static_cast<std::size_t>(colours_used(colours)));
  for (std::size_t i = 0; i < colours.size(); ++i)
    if (std::int64_t& most = largest[static_cast<std::size_t>(colours[i])]; bytes[i] > most) most = bytes[i];
  return largest;
}

std::int64_t sum_of(const std::vector<std::int64_t>& largest) {
  return std::accumulate(largest.begin(), largest.end(), std::int64_t{0});
}

/// Renumbers the colours, the one with the largest item first.
void sort_by_bytes(Colours& colours, std::vector<std::int64_t>& largest) {
  std::vector<std::int32_t> order(largest.size()), number(largest.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::int32_t colour) { return largest[static_cast<std::size_t>(colour)]; });
  for (std::size_t i = 0; i < order.size(); ++i)
    number[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  for (std::int32_t& colour : colours)
    if (colour >= 0) colour = number[static_cast<std::size_t>(colour)];
  std::ranges::sort(largest, std::greater<>());
}

/// Renumbers the colours without the unused ones.
void close_gaps(Colours& colours) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(colours_used(colours)) + 1);
  for (const std::int32_t colour : colours) number[static_cast<std::size_t>(colour) + 1] = 1;
  std::partial_sum(number.begin(), number.end(), number.begin());
  for (std::int32_t& colour : colours) colour = number[static_cast<std::size_t>(colour)];
}

class Lowering {
 public:
  Lowering(const Items& items, std::span<const std::int64_t> bytes, Colours colours, Random& draw)
      : items_(items), bytes_(bytes), draw_(draw) {
    keep(std::move(colours));
  }

  const Colours& colours() const { return colours_; }

  /// Lowers slots until their sum is at most `target` bytes, or until `more`, called with the number of moves, returns
  /// false.
  void lower(std::int64_t target, const std::function<bool(std::int64_t)>& more) {
    std::size_t failures = 0;
    for (std::int64_t moves = 0, limit = least_moves; sum_of(slot_bytes_) > target && more(moves); ++moves) {
      const std::int64_t before = moves;
      const bool lower = attempt([&](std::int64_t now) {
        moves = before + now;
        return now < limit && (now % moves_between_looks != 0 || more(moves));
      });
      failures = lower ? 0 : failures + 1;
      if (failures > slot_bytes_.size()) failures = 0, limit *= 2;
    }
  }

 private:
  void keep(Colours colours) {
    close_gaps(colours);
    slot_bytes_ = slot_bytes(colours, bytes_);
    sort_by_bytes(colours, slot_bytes_);
    colours_ = std::move(colours);
  }

  /// Tries to lower a random slot to the size of a smaller message in it, or to nothing. Returns false if that failed.
  bool attempt(const std::function<bool(std::int64_t)>& more) {
    const auto high = std::ranges::lower_bound(slot_bytes_, std::int64_t{0}, std::greater<>()) - slot_bytes_.begin();
    const auto slot = static_cast<std::int32_t>(draw_.nearly_below(static_cast<std::uint32_t>(high)));
    const std::int64_t bytes = fewer_bytes(slot);
    Colours colours = colours_;
    std::vector<std::int64_t> largest = slot_bytes_;
    largest[static_cast<std::size_t>(slot)] = bytes;
    for (std::size_t i = 0; i < colours.size(); ++i)
      if (colours[i] == slot && bytes_[i] > bytes) colours[i] = -1;
    sort_by_bytes(colours, largest);
    std::vector<std::int32_t> limits(colours.size());
    for (std::size_t i = 0; i < colours.size(); ++i) {
      limits[i] =
          static_cast<std::int32_t>(std::ranges::upper_bound(largest, bytes_[i], std::greater<>()) - largest.begin());
      if (limits[i] == 0) return false;
    }
    if (!settled(items_, colours, static_cast<std::int32_t>(largest.size()), limits, draw_, more)) return false;
    keep(std::move(colours));
    return true;
  }

  /// Returns a smaller size for the slot. Most often it is that of one of the next largest messages, so that few
  /// messages have to move.
  std::int64_t fewer_bytes(std::int32_t slot) {
    std::vector<std::int64_t> lower{0};
    for (std::size_t i = 0; i < colours_.size(); ++i)
      if (colours_[i] == slot && bytes_[i] < slot_bytes_[static_cast<std::size_t>(slot)]) lower.push_back(bytes_[i]);
    std::ranges::sort(lower, std::greater<>());
    auto most = static_cast<std::uint32_t>(lower.size());
    for (int i = 0; i < 2; ++i) most = draw_.nearly_below(most) + 1;
    return lower[most - 1];
  }

  const Items& items_;
  std::span<const std::int64_t> bytes_;  ///< of each item
  Random& draw_;
  Colours colours_;  ///< colour 0 has the largest item
  std::vector<std::int64_t> slot_bytes_;
};

/// Returns the entries of a matrix in the order of items, (source, destination), without the diagonal.
template <class T>
std::vector<T> by_item(std::span<const T> matrix, std::size_t ranks) {
  std::vector<T> items;
  items.reserve(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i)
    if (i / ranks != i % ranks) items.push_back(matrix[i]);
  return items;
}

}  // namespace

std::int64_t bytes_in_turn(const SlotTable& slots, Weights weights) {
  const auto p = static_cast<std::size_t>(slots.ranks);
  return sum_of(slot_bytes(by_item<std::int32_t>(slots.slot_of, p), by_item<std::int64_t>(weights, p)));
}

SlotTable weighted_slots(const Routing& routing, const Placement& placement, Weights weights, const Effort& effort) {
  const auto start = Clock::now();
  SlotTable result = conflict_free_slots(routing, placement, {effort.seed, effort.moves / 4, effort.seconds / 4});
  Random draw(effort.seed);
  Flows flows = flows_of(routing, placement, draw);
  const Items& items = flows.items;
  const std::vector<std::int64_t> bytes = by_item<std::int64_t>(weights, placement.size());
  std::ranges::stable_sort(flows.order, std::greater<>(),
                           [&](std::int32_t item) { return bytes[static_cast<std::size_t>(item)]; });
  Colours colours = greedy_colours(items, flows.order);
  if (Colours equal = by_item<std::int32_t>(result.slot_of, placement.size());
      sum_of(slot_bytes(equal, bytes)) < sum_of(slot_bytes(colours, bytes)))
    colours = std::move(equal);
  Lowering lowering(items, bytes, std::move(colours), draw);
  if (colouring_bytes(items, colours_used(lowering.colours())) <= most_improvement_bytes)
    lowering.lower(bound(routing, placement, weights).slots, [&](std::int64_t moves) {
      return moves < effort.moves && std::chrono::duration<double>(Clock::now() - start).count() < effort.seconds;
    });
  set_slots(lowering.colours(), result);
  return result;
}

}  // namespace swapmeet
