/// From a request to a spec, by data that every rank shares: an order (SWAPMEET_ALGORITHM), or rules: those of a tuning
/// file, what earlier runs have measured, then our own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/options.hpp"
#include "schedule/spec.hpp"
#include "choose/means.hpp"

namespace swapmeet {

/// The rules that every library has. The first that fits wins.
const std::vector<Rule>& rules();

/// What may be worth trying where nothing was measured. All that fit are.
const std::vector<Rule>& trial_rules();

struct Choice {
  Spec spec;
  std::string reason;
  std::string problem{};  ///< a sentence to warn the user with: the algorithm that was asked for cannot serve as it is
  std::int64_t least_bytes = 0, most_bytes = INT64_MAX;  ///< the choice is the same for all blocks of these sizes
};

/// The choice for a block of `block_bytes` on `shape`, where messages within nodes can travel by `means`. Pure and the
/// same on every rank whose options agree. Never a spec that is unsuitable, and by the automatic choice none that is
/// not proved (verify/verify.hpp). None is above the limits of `options` (limits.hpp): it is narrowed.
Choice choose(Collective collective, const Shape& shape, std::int64_t block_bytes, const Options& options,
              const Means& means);

/// Takes out of `options` what asks for the order of the topology of `spec`, which cannot be had because of `problem`:
/// the automatic choice is left. Returns a sentence to warn the user with.
std::string give_up_order(const Spec& spec, const std::string& problem, Options& options);

/// The algorithms that may be worth trying for blocks of so many bytes on average, where messages within nodes can
/// travel by `means`. Pure, and the same on every rank. Each is proved and within the limits of `options` for blocks of
/// any size, as those of choose().
std::vector<Spec> candidates(Collective collective, const Shape& shape, std::int64_t block_bytes,
                             const Options& options, const Means& means);

/// Whether a tuning file has rules for such calls on so many ranks.
bool tuned(Collective collective, const Shape& shape, const Options& options);

/// Whether the running application tries candidates() on such calls.
bool tries(Collective collective, const Shape& shape, const Options& options);

/// Whether choose() wants to know Shape::hierarchy, and then `means`: ranks must ask one another for these.
bool wants_nodes(Collective collective, const Shape& shape, const Options& options);
bool wants_means(Collective collective, const Shape& shape, const Options& options);

}  // namespace swapmeet
