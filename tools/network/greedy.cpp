/// Greedy colouring with bit sets.
#include <algorithm>
#include <bit>

#include "network/colouring.hpp"

namespace swapmeet {

namespace {

/// The slots in which each resource is full, as one bit per slot.
class Occupancy {
 public:
  Occupancy(const Items& items, std::size_t words)
      : items_(items), words_(words), full_(items.capacity.size() * words), low_(items.capacity.size()) {
    std::size_t wide = 0;
    for (const std::int32_t capacity : items.capacity) counter_.push_back(capacity > 1 ? wide++ : SIZE_MAX);
    wide_ = wide;
    used_.assign(wide * words * 64, 0);
  }

  /// Returns the first slot in which all resources of the item have room, and takes the room.
  std::int32_t take(std::size_t item) {
    const auto resources = items_.of(item);
    std::size_t word = 0;
    for (const std::int32_t r : resources) word = std::max<std::size_t>(word, low_[static_cast<std::size_t>(r)]);
    for (;; ++word) {
      if (word == words_) grow();
      std::uint64_t full = 0;
      for (const std::int32_t r : resources) full |= full_[static_cast<std::size_t>(r) * words_ + word];
      if (full == UINT64_MAX) continue;
      const auto bit = static_cast<std::size_t>(std::countr_one(full));
      for (const std::int32_t r : resources) add(static_cast<std::size_t>(r), word, bit);
      return static_cast<std::int32_t>(word * 64 + bit);
    }
  }

 private:
  void add(std::size_t resource, std::size_t word, std::size_t bit) {
    if (counter_[resource] != SIZE_MAX &&
        ++used_[counter_[resource] * words_ * 64 + word * 64 + bit] < items_.capacity[resource])
      return;
    full_[resource * words_ + word] |= std::uint64_t{1} << bit;
    while (low_[resource] < words_ && full_[resource * words_ + low_[resource]] == UINT64_MAX) ++low_[resource];
  }

  void grow() {
    const std::size_t words = words_ * 2;
    std::vector<std::uint64_t> full(items_.capacity.size() * words);
    std::vector<std::uint16_t> used(wide_ * words * 64);
    for (std::size_t r = 0; r < items_.capacity.size(); ++r) std::copy_n(&full_[r * words_], words_, &full[r * words]);
    for (std::size_t r = 0; r < wide_; ++r) std::copy_n(&used_[r * words_ * 64], words_ * 64, &used[r * words * 64]);
    full_ = std::move(full);
    used_ = std::move(used);
    words_ = words;
  }

  const Items& items_;
  std::size_t words_, wide_ = 0;
  std::vector<std::uint64_t> full_;   ///< [resource][word]
  std::vector<std::uint32_t> low_;    ///< first word of each resource that is not all ones
  std::vector<std::size_t> counter_;  ///< row in used_ of each resource with a capacity above 1
  std::vector<std::uint16_t> used_;   ///< [counter][slot]
};

std::size_t words_for(const Items& items) {
  std::vector<std::int64_t> load(items.capacity.size());
  for (const std::int32_t r : items.resources) ++load[static_cast<std::size_t>(r)];
  std::int64_t most = 1;
  for (std::size_t r = 0; r < load.size(); ++r) most = std::max(most, load[r] / items.capacity[r] + 1);
  return static_cast<std::size_t>((most + most / 4) / 64 + 1);
}

}  // namespace

std::int32_t colours_used(const Colours& colours) {
  return colours.empty() ? 0 : *std::max_element(colours.begin(), colours.end()) + 1;
}

Colours greedy_colours(const Items& items, std::span<const std::int32_t> order) {
  Occupancy occupancy(items, words_for(items));
  Colours colours(items.count());
  for (const std::int32_t item : order)
    colours[static_cast<std::size_t>(item)] = occupancy.take(static_cast<std::size_t>(item));
  return colours;
}

}  // namespace swapmeet
