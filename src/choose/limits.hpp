/// SWAPMEET_REQUEST_LIMIT and SWAPMEET_UNEXPECTED_LIMIT: which point of the family near a spec stays within them.
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

}  // namespace swapmeet
