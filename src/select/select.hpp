/// From a request to a spec, by data that every rank shares: an order (SWAPMEET_ALGORITHM) or the table of rules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/options.hpp"
#include "schedule/spec.hpp"
#include "transport/means.hpp"

namespace swapmeet {

enum class Collective : std::uint8_t { alltoall, alltoallv, alltoallw };
inline constexpr std::array<std::string_view, 3> collective_names{"Alltoall", "Alltoallv", "Alltoallw"};

constexpr std::string_view name_of(Collective collective) { return collective_names[static_cast<std::size_t>(collective)]; }

/// Whether blocks differ in size, and no rank knows the sizes of all.
constexpr bool of_unequal_blocks(Collective collective) { return collective != Collective::alltoall; }

/// One rule of the automatic choice: the first that fits wins.
struct Rule {
  Collective collective;
  std::int32_t least_ranks, most_ranks;
  std::int64_t least_bytes, most_bytes;  ///< of a block; sizes of unequal blocks are not shared, so rules for these leave this open
  std::string_view spec;
  std::string_view origin;  ///< where the thresholds come from
  bool one_node = false;    ///< only where all ranks share a node
};

const std::vector<Rule>& rules();

struct Choice {
  Spec spec;
  std::string reason;
  std::string problem{};  ///< a sentence to warn the user with: the algorithm that was asked for cannot serve
  std::int64_t least_bytes = 0, most_bytes = INT64_MAX;  ///< the choice is the same for all blocks of these sizes
};

/// The choice for a block of `block_bytes` on `shape`, where messages within nodes can travel by `means`. Pure and the same
/// on every rank whose options agree. Never a spec that is unsuitable, and by the automatic choice none that is not proved
/// (verify/verify.hpp).
Choice choose(Collective collective, const Shape& shape, std::int64_t block_bytes, const Options& options,
              const Means& means);

/// Whether choose() wants to know Shape::hierarchy, and then `means`: ranks must ask one another for these.
bool wants_nodes(Collective collective, const Shape& shape, const Options& options);
bool wants_means(Collective collective, const Shape& shape, const Options& options);

}  // namespace swapmeet
