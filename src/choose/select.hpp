/// Selection of a spec for a call, by data that all ranks share: the user's algorithm (SWAPMEET_ALGORITHM), the rules
/// of a tuning file, or the expected times (expectation.hpp).
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

/// The knowledge of the machine on which choices rest, the same on all ranks of a communicator.
struct Knowledge {
  Machine machine = standard_machine();  ///< the description, given or assumed
  Doubt doubt{};                         ///< uncertainty of the model with this description
  std::vector<Evidence> evidence{};      ///< measurements; in Options::tuning, Evidence holds rules
  /// The model of the time of messages. The default charges messages most. It is used as long as the network is not
  /// measured, since it may then be slower than assumed, and on one node, where prices were compared with measurements
  /// by this model (docs/measurements/node.md).
  Model model = Model::max_rate;
  double ranks_per_core = 1;  ///< the most of any host
  MeasuredNetwork network{};  ///< measured network of `machine`; unknown until it is measured

  /// Returns `machine` with the measured network, adjusted for ranks that share cores. `per_node`: ranks of a node.
  /// Such ranks are delayed by the messages of all ranks of their core. Sending one message and receiving another keep
  /// a core busy for twice the overhead, and a node has per_node / ranks_per_core cores for its messages. The bytes keep
  /// a core busy for about a sixth of their transfer time: an estimate for the copies in the system's software.
  Machine as_found(double per_node) const;

  bool operator==(const Knowledge&) const = default;
};

/// Stores a measured network in `knowledge`, so that prices rest on it. Returns whether it adds anything.
bool adopt_network(const MeasuredNetwork& network, Knowledge& knowledge);

struct Choice {
  Spec spec;
  std::string reason;
  std::string problem{};  ///< warning for the user if the requested algorithm cannot serve as it is
  std::int64_t least_bytes = 0, most_bytes = INT64_MAX;  ///< range of block sizes with the same choice
};

/// Returns the choice for blocks of `block_bytes` on `shape`, with the transports of `means` within nodes. Pure, and
/// the same on every rank whose options agree. The spec is never unsuitable. A spec that exceeds the limits of `options`
/// is narrowed (limits.hpp).
Choice choose(Collective collective, const Shape& shape, std::int64_t block_bytes, const Options& options,
              const Means& means, const Knowledge& knowledge = {});

/// Returns why the transport of `spec` within nodes is unavailable; "" if it is available.
std::string unavailable(const Spec& spec, const Means& means);

/// Removes the user's algorithm from `options`, and every rule and all evidence that uses the topology order of `spec`,
/// which is unavailable because of `problem`. Choices then follow the other rules, or the expected times. Returns a
/// warning for the user.
std::string give_up_order(const Spec& spec, const std::string& problem, Options& options, Knowledge& knowledge);

/// Returns the candidates of online tuning for blocks of `block_bytes` on average, with the transports of `means`
/// within nodes: the host MPI, then the few specs that are expected to be close to the best, the fastest first, and
/// `also` in any case. Pure, and the same on every rank. Each stays within the limits of `options` for blocks of any
/// size. `direct`: CallKind::direct.
std::vector<Expectation> candidates(Collective collective, const Shape& shape, std::int64_t block_bytes,
                                    const Options& options, const Means& means, const Knowledge& knowledge = {},
                                    const Spec& also = {}, bool direct = false);

/// Returns the expected time of a call by the host MPI in units of an MPI_Alltoall with the smallest blocks
/// (setup_policy.hpp).
double host_time_in_small_calls(Collective collective, const Shape& shape, std::int64_t block_bytes,
                                const Knowledge& knowledge);

/// Whether a tuning file has rules for this collective on this number of ranks.
bool tuned(Collective collective, const Shape& shape, const Options& options);

/// Whether online tuning tries candidates() on such calls.
bool tries(Collective collective, const Shape& shape, const Options& options);

/// Whether choose() needs Shape::hierarchy and, by wants_means(), `means`. The ranks have to exchange both.
bool wants_nodes(const Shape& shape, const Options& options);
bool wants_means(const Shape& shape, const Options& options);

}  // namespace swapmeet
