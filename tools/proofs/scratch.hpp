/// Upper bounds, mostly in closed form, on the working memory that the schedules of an exchange of equal blocks need.
/// The library has the schedule of a plan at hand, which says how much it needs; commands state it for any number of
/// ranks without making schedules.
#pragma once

#include "choose/limits.hpp"

namespace swapmeet {

/// Returns a number of scratch blocks that is sufficient on every rank. The schedule of a rank says how many that rank
/// needs. It costs about as much as count() (model/counts.hpp). Requires that spec.family is not Family::native and that
/// unsuitable(spec, shape) is empty.
std::int64_t scratch_ceiling(const Spec& spec, const Shape& shape);

/// Whether the Plan of an MPI_Alltoall by `spec` that is not in place would stay within SWAPMEET_SCRATCH_LIMIT; on many
/// ranks by an upper bound of its memory. Requires unsuitable(spec, shape) to be empty.
bool within_scratch_limit(const Spec& spec, const Shape& shape, std::int64_t block_bytes, const Options& options);

}  // namespace swapmeet
