/// The limits SWAPMEET_REQUEST_LIMIT, SWAPMEET_UNEXPECTED_LIMIT and SWAPMEET_SCRATCH_LIMIT: checks a spec against them,
/// and narrows its window to stay within the first two.
#pragma once

#include <cstdint>
#include <string>

#include "options/options.hpp"
#include "schedule/collective.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// The block size to assume if the sizes are unknown.
inline constexpr std::int64_t any_block_bytes = INT64_MAX;

struct Limited {
  Spec spec;              ///< the given spec, perhaps with a narrower window; native: no window is narrow enough
  std::string problem{};  ///< the limit that the given spec would exceed, and by what; "": none
  /// The range of block sizes with the same answer.
  std::int64_t least_bytes = 0, most_bytes = INT64_MAX;
};

/// Returns `spec` with the widest window that stays within the limits of `options`, by the bounds of ceiling()
/// (model/ceiling.hpp). The completion rule is kept if possible; else it becomes complete=all. Pure. Requires
/// unsuitable(spec, shape) to be empty.
Limited within_limits(const Spec& spec, Collective collective, const Shape& shape, std::int64_t block_bytes,
                      const Options& options);

inline constexpr const char* too_much_memory = "more working memory than SWAPMEET_SCRATCH_LIMIT allows";

/// Whether `working_blocks` blocks of working memory (Exchange::working_blocks()) stay within SWAPMEET_SCRATCH_LIMIT.
inline bool within_scratch_limit(std::int64_t working_blocks, std::int64_t block_bytes, const Options& options) {
  return block_bytes <= options.scratch_limit_bytes / working_blocks;
}

}  // namespace swapmeet
