/// Improvement of a colouring by moves of a partial one (as in bloechliger2008, with a short memory instead of a tabu
/// table).
#include <algorithm>
#include <array>

#include "network/colouring.hpp"

namespace swapmeet {

namespace {

constexpr std::int32_t nobody = -1;
/// slots considered at each move, if there are more than four times as many
constexpr std::size_t most_looked_at = 256;

/// A colouring in which some items wait for a colour. A resource of capacity c has c rows of places, with one place per
/// slot; an item occupies one place of each of its resources.
class PartialColouring {
 public:
  /// Items without a colour wait for one. `limits`: the colour of each item must be below its limit; empty: no limits.
  PartialColouring(const Items& items, Colours colours, std::int32_t count, std::span<const std::int32_t> limits,
                   Random& draw)
      : items_(items), colours_(std::move(colours)), limits_(limits), draw_(draw) {
    slots_ = stride_ = static_cast<std::size_t>(count);
    first_row_.push_back(0);
    for (const std::int32_t capacity : items.capacity)
      first_row_.push_back(first_row_.back() + static_cast<std::size_t>(capacity));
    holder_.assign(first_row_.back() * stride_, nobody);
    cost_.resize(stride_);
    members_.resize(stride_);
    left_.resize(items.count(), nobody);
    until_.resize(items.count());
    for (std::size_t i = 0; i < colours_.size(); ++i)
      if (colours_[i] != nobody) place(static_cast<std::int32_t>(i), static_cast<std::size_t>(colours_[i]));
      else waiting_.push_back(static_cast<std::int32_t>(i));
  }

  std::int32_t slots() const { return static_cast<std::int32_t>(slots_); }
  bool complete() const { return waiting_.empty(); }
  const Colours& colours() const { return colours_; }

  /// Removes the slot with the fewest items, which then wait for another.
  void drop_slot() {
    const auto least = static_cast<std::size_t>(
        std::min_element(members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(slots_)) - members_.begin());
    const std::size_t last = --slots_;
    for (std::size_t i = 0; i < colours_.size(); ++i)
      if (static_cast<std::size_t>(colours_[i]) == least)
        lift(static_cast<std::int32_t>(i)), waiting_.push_back(static_cast<std::int32_t>(i));
    if (least == last) return;
    for (std::size_t i = 0; i < colours_.size(); ++i)
      if (colours_[i] != nobody && static_cast<std::size_t>(colours_[i]) == last)
        lift(static_cast<std::int32_t>(i)), place(static_cast<std::int32_t>(i), least);
  }

  /// Gives a slot to one of the waiting items. The items that are in its way there wait instead.
  void move() {
    ++now_;
    const std::size_t pick = draw_.nearly_below(static_cast<std::uint32_t>(waiting_.size()));
    const std::int32_t item = waiting_[pick];
    waiting_[pick] = waiting_.back();
    waiting_.pop_back();
    const std::size_t slot = best_slot(item);
    const std::size_t before = waiting_.size();
    for (const std::int32_t r : items_.of(static_cast<std::size_t>(item))) make_room(static_cast<std::size_t>(r), slot);
    place(item, slot);
    for (std::size_t i = before; i < waiting_.size(); ++i) {
      left_[static_cast<std::size_t>(waiting_[i])] = static_cast<std::int32_t>(slot);
      until_[static_cast<std::size_t>(waiting_[i])] =
          now_ + 10 + draw_.nearly_below(10) + static_cast<std::int64_t>(waiting_.size());
    }
  }

 private:
  std::int32_t* row(std::size_t resource, std::size_t number = 0) {
    return &holder_[(first_row_[resource] + number) * stride_];
  }
  std::size_t capacity(std::size_t resource) const { return static_cast<std::size_t>(items_.capacity[resource]); }

  void place(std::int32_t item, std::size_t slot) {
    for (const std::int32_t r : items_.of(static_cast<std::size_t>(item))) {
      std::int32_t* at = row(static_cast<std::size_t>(r)) + slot;
      while (*at != nobody) at += stride_;
      *at = item;
    }
    colours_[static_cast<std::size_t>(item)] = static_cast<std::int32_t>(slot);
    ++members_[slot];
  }

  void lift(std::int32_t item) {
    const auto slot = static_cast<std::size_t>(colours_[static_cast<std::size_t>(item)]);
    for (const std::int32_t r : items_.of(static_cast<std::size_t>(item))) {
      // Keep the occupied places in the first rows: move the last item to the free place.
      std::int32_t* at = row(static_cast<std::size_t>(r)) + slot;
      const std::int32_t* end =
          row(static_cast<std::size_t>(r)) + capacity(static_cast<std::size_t>(r)) * stride_ + slot;
      while (*at != item) at += stride_;
      std::int32_t* last = at;
      while (last + stride_ < end && last[stride_] != nobody) last += stride_;
      *at = *last;
      *last = nobody;
    }
    colours_[static_cast<std::size_t>(item)] = nobody;
    --members_[slot];
  }

  void make_room(std::size_t resource, std::size_t slot) {
    const std::size_t rows = capacity(resource);
    if (row(resource, rows - 1)[slot] == nobody) return;
    const std::int32_t out = row(resource, rows > 1 ? draw_.nearly_below(static_cast<std::uint32_t>(rows)) : 0)[slot];
    lift(out);
    waiting_.push_back(out);
  }

  /// Adds to `cost_`, for each slot, the number of different items in the last rows of R resources.
  template <std::size_t R>
  void count_holders(const std::array<const std::int32_t*, 8>& rows, std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      std::int32_t holders = 0;
      for (std::size_t i = 0; i < R; ++i) {
        const std::int32_t holder = rows[i][s];
        std::int32_t different = holder != nobody;
        for (std::size_t j = 0; j < i; ++j) different &= rows[j][s] != holder;
        holders += different;
      }
      cost_[s] += holders;
    }
  }

  std::size_t best_slot(std::int32_t item) {
    // If there are many slots, only some are considered: more moves are worth more than better ones in the same time.
    const std::size_t open =
        limits_.empty() ? slots_ : static_cast<std::size_t>(limits_[static_cast<std::size_t>(item)]);
    const std::size_t width = open > 4 * most_looked_at ? most_looked_at : open;
    const std::size_t begin = draw_.nearly_below(static_cast<std::uint32_t>(open - width + 1)), end = begin + width;
    std::fill(cost_.begin() + static_cast<std::ptrdiff_t>(begin), cost_.begin() + static_cast<std::ptrdiff_t>(end), 0);
    std::array<const std::int32_t*, 8> rows{};
    std::size_t count = 0;
    const auto flush = [&] {
      switch (count) {
        case 1: count_holders<1>(rows, begin, end); break;
        case 2: count_holders<2>(rows, begin, end); break;
        case 3: count_holders<3>(rows, begin, end); break;
        case 4: count_holders<4>(rows, begin, end); break;
        case 5: count_holders<5>(rows, begin, end); break;
        case 6: count_holders<6>(rows, begin, end); break;
        case 7: count_holders<7>(rows, begin, end); break;
        case 8: count_holders<8>(rows, begin, end); break;
        default: break;
      }
      count = 0;
    };
    for (const std::int32_t r : items_.of(static_cast<std::size_t>(item))) {
      rows[count++] = row(static_cast<std::size_t>(r), capacity(static_cast<std::size_t>(r)) - 1);
      if (count == rows.size()) flush();
    }
    flush();
    const auto index = static_cast<std::size_t>(item);
    if (const auto left = static_cast<std::size_t>(left_[index]); until_[index] > now_ && begin <= left && left < end)
      cost_[left] += 1000;
    std::int32_t least = INT32_MAX;
    for (std::size_t s = begin; s < end; ++s) least = std::min(least, cost_[s]);
    std::size_t slot = begin + draw_.nearly_below(static_cast<std::uint32_t>(width));  // a random one of the best slots
    while (cost_[slot] != least) slot = slot + 1 < end ? slot + 1 : begin;
    return slot;
  }

  const Items& items_;
  Colours colours_;
  std::span<const std::int32_t> limits_;
  Random& draw_;
  std::size_t slots_ = 0, stride_ = 0;
  std::vector<std::size_t> first_row_;
  std::vector<std::int32_t> holder_;  ///< [row][slot]
  std::vector<std::int32_t> cost_, members_, waiting_;
  std::vector<std::int32_t> left_;   ///< for each item: slot from which it was last removed
  std::vector<std::int64_t> until_;  ///< for each item: move until which it should not return there
  std::int64_t now_ = 0;
};

}  // namespace

std::int64_t colouring_bytes(const Items& items, std::int32_t colours) {
  std::int64_t rows = 0;
  for (const std::int32_t capacity : items.capacity) rows += capacity;
  return rows * colours * 4 + static_cast<std::int64_t>(items.count()) * 20;
}

Colours improved(const Items& items, Colours colours, std::int32_t target, Random& draw,
                 const std::function<bool(std::int64_t)>& more) {
  if (colours_used(colours) <= target) return colours;
  PartialColouring state(items, colours, colours_used(colours), {}, draw);
  for (std::int64_t moves = 0;; ++moves) {
    while (state.complete()) {
      colours = state.colours();
      if (state.slots() <= target || state.slots() <= 1) return colours;
      state.drop_slot();
    }
    if (!more(moves)) return colours;
    state.move();
  }
}

bool settled(const Items& items, Colours& colours, std::int32_t count, std::span<const std::int32_t> limits,
             Random& draw, const std::function<bool(std::int64_t)>& more) {
  PartialColouring state(items, std::move(colours), count, limits, draw);
  for (std::int64_t moves = 0; !state.complete() && more(moves); ++moves) state.move();
  colours = state.colours();
  return state.complete();
}

}  // namespace swapmeet
