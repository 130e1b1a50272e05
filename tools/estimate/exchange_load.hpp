/// The messages and blocks of an exchange on the links of a network, round by round.
#pragma once

#include <vector>

#include "model/work.hpp"
#include "network/routing.hpp"

namespace swapmeet {

/// The maximum load over a set of links, divided by the capacity of the link.
struct Busiest {
  double blocks = 0, messages = 0;
};

/// The load of the link with the most head-of-line blocking: all its blocks, and the blocks that delay others. Of two
/// groups of messages that continue on different links, the smaller group delays an equal part of the larger one. The
/// first message is not delayed.
struct Mixed {
  double blocks = 0, apart = 0;
};

/// The load of a round on links, or on the memories of nodes.
struct Traffic {
  std::int64_t largest = 0;  ///< blocks of the largest message
  Busiest hosts;             ///< links to hosts, or memories
  Busiest between;           ///< links between switches
  Mixed mixed;
  double hops = 0;       ///< links between switches on the longest path to a rank: mean over receiving ranks
  double mean_hops = 0;  ///< mean over all messages
  /// share of the receiving ranks whose farthest peer is of this kind (between or within nodes)
  double share = 0;
};

/// The messages of one size that a rank receives.
struct Arrivals {
  std::int64_t blocks = 0, receives = 0;
};

struct RoundLoad {
  std::int64_t sends = 0, receives = 0;  ///< maximum over the ranks
  std::vector<Arrivals> arrivals;        ///< these receives, by size
  Traffic between, within;
};

struct StepLoad {
  Copies copies;
  TypedCopies typed;
  bool sliding = false;
  std::vector<RoundLoad> rounds;
  RoundLoad all;  ///< if sliding: the load of all rounds as one
};

struct ExchangeLoad {
  std::vector<StepLoad> steps;
  std::int64_t messages = 0;
  std::int64_t operations = 0;  ///< number of visited messages and of additions to links
  std::int64_t peers = 0;       ///< messages to other nodes; maximum over the ranks
};

/// Returns the load of an exchange. Node i is host i and has the ranks from i·per_node on. The hierarchy of `shape` must
/// describe these nodes. Throws std::length_error if the exchange is too long.
ExchangeLoad exchange_load(const Spec& spec, const Shape& shape, const Routing& routing, Rank per_node);

}  // namespace swapmeet
