#include "model/counts.hpp"

#include <algorithm>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "model/unlike_ranks.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

namespace {

std::vector<Digit> digits_of(const Spec& spec, const std::vector<std::int32_t>& sizes) {
  return digits_along(spec.family == Family::direct ? std::vector<Radices>{{Radix::all}} : spec.radices, sizes);
}

/// Returns the number of blocks that leave a rank in this digit.
std::int64_t blocks_in(const Digit& digit, std::int64_t size, std::int64_t ranks) {
  return (size - offsets_with(digit, size, 0)) * (ranks / size);
}

/// Whether each block has a message of its own in this digit.
bool staggered(const Spec& spec, const Digit& digit, std::size_t dimensions) {
  return spec.family == Family::bruck && spec.grouping == Grouping::staggered && digit.dimension + 1 == dimensions;
}

void count_regular(const Spec& spec, std::int64_t ranks, const std::vector<Digit>& digits, Counts& counts) {
  for (const Digit& digit : digits) {
    const std::int64_t blocks = blocks_in(digit, counts.sizes[digit.dimension], ranks);
    const std::int64_t messages = staggered(spec, digit, counts.sizes.size()) ? blocks : digit.radix - 1;
    counts.messages += messages;  // digits_of() makes no digit with unused values
    counts.blocks += blocks;
  }
}

/// Sets the dimensions. Returns whether places are proxies.
bool set_grid(const Spec& spec, const Shape& shape, Counts& counts) {
  // that of a direct exchange has a single dimension
  Extent grid = extent(spec.family == Family::direct ? Dimensions{} : spec.dimensions, shape);
  counts.sizes = std::move(grid.sizes);
  return grid.places != shape.ranks;
}

/// Counts an exchange without closed form in its schedules: in that of one rank if all ranks are alike.
Counts count_schedules(const Spec& spec, const Shape& shape) {
  const bool alike = alike_on(spec, shape).has_value();
  Counts most = count(generate(spec, shape, 0));
  const std::int64_t messages = most.messages, blocks = most.blocks;  // of the first rank
  for (Rank rank = 1; rank < shape.ranks && !alike; ++rank) {
    const Counts one = count(generate(spec, shape, rank));
    most.ranks_differ = most.ranks_differ || one.messages != messages || one.blocks != blocks;
    most.messages = std::max(most.messages, one.messages);
    most.blocks = std::max(most.blocks, one.blocks);
  }
  most.sizes = {shape.ranks};
  if (spec.family == Family::bruck) most.ranks_differ |= set_grid(spec, shape, most);
  return most;
}

}  // namespace

bool has_closed_form(const Spec& spec) {
  if (spec.family == Family::bruck) return spec.digits == Digits::standard && spec.paths == Paths::ordered;
  return spec.family == Family::direct || spec.family == Family::leaders;
}

Counts count(const Schedule& schedule) {
  Counts counts;
  counts.messages = static_cast<std::int64_t>(schedule.sends.size());
  for (const Message& message : schedule.sends) counts.blocks += schedule.block_count(message);
  return counts;
}

Counts count(const Spec& spec, const Shape& shape) {
  if (!has_closed_form(spec)) return count_schedules(spec, shape);
  if (spec.family == Family::leaders) return count_leaders(spec, shape);
  Counts counts;
  counts.ranks_differ = set_grid(spec, shape, counts);
  const std::vector<Digit> digits = digits_of(spec, counts.sizes);
  if (counts.ranks_differ) count_proxies(spec, shape, digits, counts);
  else count_regular(spec, shape.ranks, digits, counts);
  return counts;
}

}  // namespace swapmeet
