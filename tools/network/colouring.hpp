/// Colouring of items that share resources: each item gets a colour (a slot) such that no resource exceeds its capacity
/// in any slot.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "schedule/random.hpp"

namespace swapmeet {

/// A set of items. Item i needs the resources resources[first[i] .. first[i+1]).
struct Items {
  std::vector<std::uint32_t> first{0};
  std::vector<std::int32_t> resources;
  std::vector<std::int32_t> capacity;  ///< of each resource

  std::size_t count() const { return first.size() - 1; }
  std::span<const std::int32_t> of(std::size_t item) const {
    return std::span(resources).subspan(first[item], first[item + 1] - first[item]);
  }
};

using Colours = std::vector<std::int32_t>;

/// Returns the number of colours.
std::int32_t colours_used(const Colours& colours);

/// Returns a greedy colouring: the items in `order`, each in the first slot with room for it.
Colours greedy_colours(const Items& items, std::span<const std::int32_t> order);

/// Returns a colouring with fewer colours. It removes one colour after the other and moves its items to other slots. If
/// no slot has room for an item, the items that are in the way are removed from a slot and wait. It ends at `target`
/// colours, or when `more`, called with the number of moves, returns false.
Colours improved(const Items& items, Colours colours, std::int32_t target, Random& draw,
                 const std::function<bool(std::int64_t)>& more);

/// Colours each item that has no colour (-1), with moves like those of improved(). Every item gets a colour below its
/// limit. Returns false if `more` returned false before all items had a colour.
bool settled(const Items& items, Colours& colours, std::int32_t count, std::span<const std::int32_t> limits,
             Random& draw, const std::function<bool(std::int64_t)>& more);

/// Returns the memory that improved() or settled() needs, in bytes.
std::int64_t colouring_bytes(const Items& items, std::int32_t colours);
/// A colouring that needs more memory is not improved.
constexpr std::int64_t most_improvement_bytes = std::int64_t{1} << 30;

/// moves between two readings of the clock in improvements of limited time
constexpr std::int64_t moves_between_looks = 1024;

}  // namespace swapmeet
