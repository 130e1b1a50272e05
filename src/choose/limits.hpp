/// SWAPMEET_REQUEST_LIMIT and SWAPMEET_UNEXPECTED_LIMIT: which point of the family near a spec stays within them; and
/// SWAPMEET_SCRATCH_LIMIT.
#pragma once

#include <cstdint>
#include <string>

#include "options/options.hpp"
#include "schedule/collective.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// For calls of which nobody knows how large blocks are.
inline constexpr std::int64_t any_block_bytes = INT64_MAX;

struct Limited {
  Spec spec;              ///< as it was, or with a narrower window; native: none is narrow enough
  std::string problem{};  ///< what would be above which limit; "": nothing
  /// The answer is the same for all blocks of these sizes.
  std::int64_t least_bytes = 0, most_bytes = INT64_MAX;
};

/// `spec` with the widest window, and its completion rule if possible, else complete=all, that stays within the limits of
/// `options`, by ceiling() (verify/certificate.hpp). Pure. Requires unsuitable(spec, shape) empty.
Limited within_limits(const Spec& spec, Collective collective, const Shape& shape, std::int64_t block_bytes,
                      const Options& options);

inline constexpr const char* too_much_memory = "more working memory than SWAPMEET_SCRATCH_LIMIT allows";

/// Whether `working_blocks` blocks of working memory (Exchange::working_blocks()) stay within SWAPMEET_SCRATCH_LIMIT.
inline bool within_scratch_limit(std::int64_t working_blocks, std::int64_t block_bytes, const Options& options) {
  return block_bytes <= options.scratch_limit_bytes / working_blocks;
}

/// The same of an Alltoall by `spec` that is not in place, as its Plan would have it; of many ranks by an upper bound.
/// Requires unsuitable(spec, shape) empty.
bool within_scratch_limit(const Spec& spec, const Shape& shape, std::int64_t block_bytes, const Options& options);

}  // namespace swapmeet
