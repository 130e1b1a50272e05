/// From a request to a spec, by data that every rank shares: an order (SWAPMEET_ALGORITHM), the rules of a tuning file, or
/// what each spec is expected to take (expectation.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/options.hpp"
#include "schedule/spec.hpp"
#include "choose/description.hpp"
#include "choose/expectation.hpp"
#include "choose/means.hpp"

namespace swapmeet {

/// What is known of the machine, the same on all ranks of a communicator.
struct Knowledge {
  Machine machine = standard_machine();  ///< as it is described, or assumed
  Doubt doubt{};                         ///< of the model, by this description
  std::vector<Evidence> evidence{};
  /// Makes much of messages. As long as nobody has measured the network, it may be slower than is assumed; and on one node
  /// prices are held against measurements by this model (docs/measurements/node.md).
  Model model = Model::max_rate;
  double ranks_per_core = 1;  ///< the most of any host
  MeasuredNetwork network{};  ///< of `machine`, as far as it was measured

  /// `machine` with `network`, as ranks find it that share cores, so many on each node: these are busy with the messages of
  /// all, and with their bytes for about a sixth of the time that these take: an estimate, for copies in the system's software.
  Machine as_found(double per_node) const;

  bool operator==(const Knowledge&) const = default;
};

/// Prices rest on this network from now on. Returns whether that is news.
bool describe_network(const MeasuredNetwork& network, Knowledge& knowledge);

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
              const Means& means, const Knowledge& knowledge = {});

/// Why messages within nodes cannot travel as `spec` says; "" if they can.
std::string unavailable(const Spec& spec, const Means& means);

/// Takes out of `options` what asks for the order of the topology of `spec`, which cannot be had because of `problem`:
/// the automatic choice is left. Returns a sentence to warn the user with.
std::string give_up_order(const Spec& spec, const std::string& problem, Options& options);

/// What may be tried for blocks of so many bytes on average, where messages within nodes can travel by `means`: the host
/// MPI, then the few that are expected to be within reach of the best, the fastest first, and `also` in any case. Pure, and
/// the same on every rank. Each is within the limits of `options` for blocks of any size; whether it is proved is to be seen
/// before it is executed, for that takes longer than all else. `direct`: as of CallKind.
std::vector<Expectation> candidates(Collective collective, const Shape& shape, std::int64_t block_bytes,
                                    const Options& options, const Means& means, const Knowledge& knowledge = {},
                                    const Spec& also = {}, bool direct = false);

/// How many calls of MPI_Alltoall with the smallest blocks the host MPI is expected to make in the time of one such call:
/// setup_policy.hpp.
double small_calls(Collective collective, const Shape& shape, std::int64_t block_bytes, const Knowledge& knowledge);

/// Whether a tuning file has rules for such calls on so many ranks.
bool tuned(Collective collective, const Shape& shape, const Options& options);

/// Whether the running application tries candidates() on such calls.
bool tries(Collective collective, const Shape& shape, const Options& options);

/// Whether choose() wants to know Shape::hierarchy, and then `means`: ranks must ask one another for these.
bool wants_nodes(const Shape& shape, const Options& options);
bool wants_means(const Shape& shape, const Options& options);

}  // namespace swapmeet
