/// The expected time of an exchange on a network: LogGP for ranks, nodes and links that their messages share
/// (docs/estimates.md).
///
/// A round (model/rounds.hpp) of s sends and r receives of a rank takes the longest of
///   (s + r)·m               its core: a send costs m, and so does a receive of an eager message
///   s·m + L + x + m         the last message, alone: L with all its hops, x its bytes over its slowest link
///   m + L + N + m           N: the bytes of all messages over the busiest link, whether of a NIC, between switches or
///                           of a node's memory
/// L and x are means over ranks, of the slowest message of each: who has a near peer in this round has a far one in
/// another, and is not held up by those who have one now. N is not: a link that all rounds need is the same for all.
/// Where windows slide, eager messages of a step are one round, for their sends are over at once; of larger ones a
/// window lasts max(s·m, m + L + x, N), and in the end L is waited for. Copies are added.
///
/// Source:  Alexandrov et al. 1995 (LogGP); Gropp, Olson, Samfass 2016 (nodes); slimfly (links)
#pragma once

#include <limits>
#include <vector>

#include "model/machine.hpp"
#include "model/rounds.hpp"
#include "network/routing.hpp"

namespace swapmeet {

/// What things cost: microseconds, and nanoseconds for each byte.
struct NetworkCosts {
  double message_us = 0;                      ///< m
  double latency_us = 0;                      ///< L with one link between switches
  double hop_us = 0;                          ///< of each further one
  double byte_ns = 0;                         ///< of a message between nodes, on its own
  double node_byte_ns = 0, link_byte_ns = 0;  ///< of links of capacity 1: to hosts, and between switches
  /// the same within nodes; of all ranks of a node
  double within_latency_us = 0, within_byte_ns = 0, memory_byte_ns = 0;
  Copying copying;
  std::int64_t eager_bytes = std::numeric_limits<std::int64_t>::max();
};

inline constexpr double envelope_bytes = 16;  ///< of each message: source, tag, communicator

/// What a round puts on the links of one kind.
struct Traffic {
  std::int64_t largest = 0;               ///< blocks of a message
  double blocks_ns = 0, messages_ns = 0;  ///< of the busiest link: blocks, and messages, times ns for a byte of one
  double latency_us = 0;                  ///< mean over ranks that receive
  /// of ranks that receive: those that wait for messages of this kind, the others being nearer
  double share = 0;
};

struct RoundLoad {
  std::int64_t sends = 0, receives = 0;  ///< of the rank with the most
  Traffic between, within;
};

struct StepLoad {
  Copies copies;
  bool sliding = false;
  std::vector<RoundLoad> rounds;
  RoundLoad all;  ///< if sliding: as if all were one round
};

/// The load that an exchange puts on a network, whatever the size of a block. Node i is host i; it has ranks i·per_node
/// and on.
class NetworkEstimate {
 public:
  /// The hierarchy of `shape` is of these nodes. Throws std::length_error if the exchange is too long to be told.
  NetworkEstimate(const Spec& spec, const Shape& shape, const Routing& routing, Rank per_node,
                  const NetworkCosts& costs);

  /// For blocks of so many bytes.
  double time_us(std::int64_t block_bytes) const;

  std::int64_t messages() const { return messages_; }
  /// Messages that were looked at, and links that were added to: what it took, on any machine.
  std::int64_t operations() const { return operations_; }
  const std::vector<StepLoad>& steps() const { return steps_; }

 private:
  double pass_us(std::int64_t bytes) const;

  NetworkCosts costs_;
  std::int64_t segment_bytes_ = 0, messages_ = 0, operations_ = 0;
  std::vector<StepLoad> steps_;
};

}  // namespace swapmeet
