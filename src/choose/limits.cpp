#include "choose/limits.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "algorithms/generate.hpp"
#include "model/ceiling.hpp"

namespace swapmeet {

namespace {

bool on_one_node(const Shape& shape) {
  return shape.hierarchy.empty() ||
         std::ranges::adjacent_find(shape.hierarchy.front(), std::not_equal_to{}) == shape.hierarchy.front().end();
}

/// Calls accepts() until it accepts a spec: with `spec`, then with narrower and narrower windows with its completion
/// rule, then with complete=all. For a direct exchange the same follows with grants. Returns whether a spec was
/// accepted.
template <class Accepts>
bool accepts_narrower(const Spec& spec, const Shape& shape, Accepts&& accepts) {
  const auto widest = static_cast<std::uint32_t>(std::max(1, shape.ranks - 1));
  const std::uint32_t window = spec.window == 0 ? widest : std::min(static_cast<std::uint32_t>(spec.window), widest);
  const auto one = [&](std::uint32_t narrowed, Completion completion, Posting posting) {
    Spec other = spec;
    if (narrowed < widest) other.window = static_cast<std::int32_t>(narrowed);
    other.completion = completion;
    other.posting = posting;
    return accepts(other);
  };
  const auto any = [&](std::uint32_t widest_window, Completion completion, Posting posting) {
    for (std::uint32_t narrowed = std::bit_floor(widest_window); narrowed > 0; narrowed /= 2)
      if (one(narrowed, completion, posting)) return true;
    return false;
  };
  if (accepts(spec) || any(window - 1, spec.completion, spec.posting)) return true;
  if (spec.completion != Completion::all && any(window, Completion::all, spec.posting)) return true;
  if (spec.family != Family::direct || spec.posting == Posting::granted) return false;
  return one(window, spec.completion, Posting::granted) || any(window - 1, spec.completion, Posting::granted);
}

/// Returns the upper bounds on requests and messages of a rank.
ExchangeBounds most_held(const Spec& spec, Collective collective, const Shape& shape) {
  return of_unequal_blocks(collective) ? ceiling_of_unequal(spec, shape) : ceiling(spec, shape).rank;
}

/// Returns the largest block with which early messages stay within `limit` bytes. -1: no block does; INT64_MAX: every
/// block does.
std::int64_t largest_block(const ExchangeBounds& bounds, const Spec& spec, std::int64_t limit) {
  const std::int64_t entries = early_bytes(bounds, 0);
  if (entries > limit) return -1;
  if (early_bytes(bounds, any_block_bytes) <= limit) return INT64_MAX;
  const std::int64_t largest = (limit - entries) / bounds.early_blocks;
  return spec.segment_bytes > 0 && spec.segment_bytes <= largest ? INT64_MAX : largest;
}

std::string requests_above(std::int64_t requests, const Options& options) {
  return std::to_string(requests) + " requests may be outstanding at a time, SWAPMEET_REQUEST_LIMIT is " +
         std::to_string(options.request_limit);
}

std::string early_above(std::int64_t messages, std::int64_t largest, const Options& options) {
  return std::to_string(messages) +
         " messages may arrive before their receives are posted, SWAPMEET_UNEXPECTED_LIMIT=" +
         std::to_string(options.unexpected_limit_bytes) +
         (largest < 0 ? " is exceeded" : " is exceeded by blocks above " + std::to_string(largest) + " B");
}

}  // namespace

Limited within_limits(const Spec& spec, Collective collective, const Shape& shape, std::int64_t block_bytes,
                      const Options& options) {
  Limited answer{spec};
  if (spec.family == Family::native || (spec.intra != Transport::mpi && on_one_node(shape))) return answer;
  const std::int64_t size = of_unequal_blocks(collective) ? any_block_bytes : block_bytes;
  bool first = true;
  const bool found = accepts_narrower(spec, shape, [&](const Spec& point) {
    const ExchangeBounds bounds = most_held(point, collective, shape);
    const bool few_requests = bounds.requests <= options.request_limit;
    const std::int64_t largest = few_requests ? largest_block(bounds, point, options.unexpected_limit_bytes) : -1;
    if (size <= largest) {
      // This check comes last, since it may take tables of all ranks (order=groups).
      if (!answer.problem.empty() && !unsuitable(point, shape).empty()) return false;
      answer.spec = point;
      if (size != any_block_bytes) answer.most_bytes = largest;
      return true;
    }
    if (size != any_block_bytes) answer.least_bytes = std::max(answer.least_bytes, largest + 1);
    if (std::exchange(first, false))
      answer.problem = few_requests ? early_above(bounds.early_messages, largest, options)
                                    : requests_above(bounds.requests, options);
    return false;
  });
  if (!found) answer.spec = Spec{};
  return answer;
}

}  // namespace swapmeet
