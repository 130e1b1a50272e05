/// Colouring of items that share resources: every item gets a slot in which none of its resources is over capacity.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "schedule/random.hpp"

namespace swapmeet {

/// Item i needs resources[first[i] .. first[i+1]).
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

/// Number of colours.
std::int32_t colours_used(const Colours& colours);

/// Items in `order`, each in the first slot with room for it.
Colours greedy_colours(const Items& items, std::span<const std::int32_t> order);

/// Colours anew, whole classes at a time in random order (or the largest first, or the last first): never more colours
/// than before.
Colours recoloured(const Items& items, const Colours& colours, Random& draw);

/// Takes away one colour after the other and moves what had it elsewhere, until there are `target` colours or `more`
/// says no after a number of moves. Where no slot has room, those that are in the way are pushed out.
Colours improved(const Items& items, Colours colours, std::int32_t target, Random& draw,
                 const std::function<bool(std::int64_t)>& more);

/// Gives a colour to each item that has none (-1), of those below its limit, and such that the others keep below
/// theirs. Moves are those of improved(). False: `more` said no before all had one.
bool settled(const Items& items, Colours& colours, std::int32_t count, std::span<const std::int32_t> limits,
             Random& draw, const std::function<bool(std::int64_t)>& more);

/// Bytes that improved() needs, or settled().
std::int64_t colouring_bytes(const Items& items, std::int32_t colours);
/// Colours that would take more are not improved.
constexpr std::int64_t most_improvement_bytes = std::int64_t{1} << 30;

constexpr std::int64_t moves_between_looks = 1024;  ///< at the clock, when colours are improved for a time

}  // namespace swapmeet
