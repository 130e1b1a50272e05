/// The expected time of an exchange on a network: LogGP for ranks, nodes and links that their messages share
/// (docs/estimates.md).
///
/// A round (model/rounds.hpp) of s sends and r receives of a rank takes the longest of
///   (s + r)·m               its core: a send costs m, and so does the receive of each eager message
///   s·m + L + x + m         the last message, alone: L with all its hops, x its bytes over its slowest link
///   m + L + N + m           N: the bytes of all messages over the busiest link, whether of a NIC, between switches or
///                           of a node's memory
/// L and x are means over ranks, of the slowest message of each: who has a near peer in this round has a far one in
/// another, and is not held up by those who have one now. N is not: a link that all rounds need is the same for all.
/// Where windows slide, eager messages of a step are one round, for their sends are over at once; of larger ones a
/// window lasts max(s·m, m + L + x, N), and in the end L is waited for. Copies are added. Where sends wait until they are
/// granted (post=granted), a round of messages of no bytes goes ahead of each round, or of all that slide.
///
/// What a machine's description may add (docs/models.md): a core that does not work while the network does (overlap < 1:
/// a round takes so much of the longest, and the rest of core and wire one after the other); the handshake of larger
/// messages; the first fragment; peers that are not kept ready; derived datatypes; copies outside the cache; and links on
/// which messages for several other links meet. Such a link serves up to `contention` times as slowly: a message waits at
/// the head of a switch's queue while those behind it could go on (head-of-line blocking). It is so much slower where
/// half of what it carries goes on to another link than the other half; a message's first hop is free of it, so with h
/// hops the share of 1 - 1/h of the time is not; and so is the first of n messages, which leaves 1 - 1/n.
///
/// Source:  Alexandrov et al. 1995 (LogGP); Gropp, Olson, Samfass 2016 (nodes); slimfly (links); Karol, Hluchyj, Morgan
///          1987 (head-of-line blocking)
#pragma once

#include <limits>
#include <vector>

#include "model/machine.hpp"
#include "model/rounds.hpp"
#include "network/routing.hpp"

namespace swapmeet {

/// What things cost: microseconds, and nanoseconds for each byte.
struct NetworkCosts {
  MessageCost between;                        ///< o: m; L with one link between switches; no gap, no rendezvous_us
  double hop_us = 0;                          ///< of each further one
  double node_byte_ns = 0, link_byte_ns = 0;  ///< of links of capacity 1: to hosts, and between switches
  double contention = 1;                      ///< so many times slower are links on which messages wait for others
  double overlap = 1;                         ///< share of a core's work that goes on while the network works
  /// the same within nodes; of all ranks of a node
  double within_latency_us = 0, within_byte_ns = 0, memory_byte_ns = 0;
  Copying copying, datatype;
  double datatype_us = 0, cache_bytes = std::numeric_limits<double>::infinity();  ///< as in Machine
  double call_us = 0;                                                             ///< of each exchange
};

inline constexpr double envelope_bytes = 16;  ///< of each message: source, tag, communicator

/// On the busiest link of some, divided by its capacity.
struct Busiest {
  double blocks = 0, messages = 0;
};

/// On the link on which messages wait most for others: all blocks, and those in whose way others are. Of two groups that
/// go on to different links the smaller is in the way of as much of the larger; the first message waits for none.
struct Mixed {
  double blocks = 0, apart = 0;
};

/// What a round puts on links, or on the memories of nodes.
struct Traffic {
  std::int64_t largest = 0;  ///< blocks of a message
  Busiest hosts;             ///< links to hosts; or memories
  Busiest between;           ///< links between switches
  Mixed mixed;
  double hops = 0;       ///< links between switches, of the longest way to a rank: mean over ranks that receive
  double mean_hops = 0;  ///< of all messages
  /// of ranks that receive: those that wait for messages of this kind, the others being nearer
  double share = 0;
};

/// Messages of one size that a rank receives.
struct Arrivals {
  std::int64_t blocks = 0, receives = 0;
};

struct RoundLoad {
  std::int64_t sends = 0, receives = 0;  ///< of the rank with the most
  std::vector<Arrivals> arrivals;        ///< the same receives, by size
  Traffic between, within;
};

struct StepLoad {
  Copies copies;
  TypedCopies typed;
  bool sliding = false;
  std::vector<RoundLoad> rounds;
  RoundLoad all;  ///< if sliding: as if all were one round
};

/// The load that an exchange puts on a network, whatever the size of a block and what things cost. Node i is host i; it
/// has ranks i·per_node and on.
class NetworkEstimate {
 public:
  /// The hierarchy of `shape` is of these nodes. Throws std::length_error if the exchange is too long to be told.
  NetworkEstimate(const Spec& spec, const Shape& shape, const Routing& routing, Rank per_node);

  /// For blocks of so many bytes.
  double time_us(std::int64_t block_bytes, const NetworkCosts& costs) const;

  std::int64_t messages() const { return messages_; }
  /// Messages that were looked at, and links that were added to: what it took, on any machine.
  std::int64_t operations() const { return operations_; }
  const std::vector<StepLoad>& steps() const { return steps_; }

 private:
  double pass_us(std::int64_t bytes, const NetworkCosts& costs) const;

  Rank ranks_ = 0;
  bool granted_ = false;
  std::int64_t segment_bytes_ = 0, messages_ = 0, operations_ = 0;
  double peers_ = 0;  ///< messages to other nodes, of the rank with the most
  std::vector<StepLoad> steps_;
};

}  // namespace swapmeet
