/// The expected time of an exchange on a network: LogGP for ranks, nodes and shared links (docs/estimates.md).
///
/// A round (estimate/rounds.hpp) with s sends and r receives of a rank takes the longest of these times:
///   (s + r)·m               the core: a send costs m, and so does the receive of each eager message
///   s·m + L + x + m         the last message alone: L with all its hops, x for its bytes on its slowest link
///   m + L + N + m           N: the bytes of all messages on the busiest link, which may be that of a NIC, between
///                           switches, or the memory of a node
/// L and x are means over ranks of the slowest message of each rank. A rank with a near peer in this round has a far
/// one in another round, and the ranks that now have a far peer do not delay it. N is no mean: a link that is busy in
/// all rounds delays all ranks.
///
/// If windows slide, the eager messages of a step form one round, since their sends complete at once. For larger
/// messages a window takes max(s·m, m + L + x, N), and L is added once at the end. Copies are added. If sends wait for
/// a grant (post=granted), each round, or the set of all sliding rounds, is preceded by a round of empty messages.
///
/// A machine's description may add the following (docs/models.md): cores that do not work while the network does
/// (overlap < 1: a round takes this share of the longest time, and for the rest core and wire work one after the
/// other); the handshake of larger messages; the first fragment; peers that MPI and NIC do not keep ready; derived
/// datatypes; copies outside the cache; and contention on links whose messages continue on several other links. Such a
/// link is up to `contention` times slower, because a message waits at the head of a switch's queue while messages
/// behind it could proceed (head-of-line blocking). The full factor applies if half of the link's messages continue on
/// one link and half on another. A message is not delayed on its first hop, so with h hops the share 1 - 1/h of the
/// time is affected; nor is the first of n messages, so the share 1 - 1/n.
///
/// Source:  Alexandrov et al. 1995 (LogGP); Gropp, Olson, Samfass 2016 (nodes); slimfly (links); Karol, Hluchyj, Morgan
///          1987 (head-of-line blocking)
#pragma once

#include <limits>
#include <vector>

#include "estimate/exchange_load.hpp"
#include "model/machine.hpp"

namespace swapmeet {

/// Costs of the machine, in microseconds, and in nanoseconds per byte.
struct NetworkCosts {
  MessageCost between;  ///< overhead: m; latency: L with one link between switches; without gap and rendezvous_us
  double hop_us = 0;    ///< latency of each further link between switches
  double node_byte_ns = 0, link_byte_ns = 0;  ///< on links of capacity 1: to hosts, and between switches
  double contention = 1;                      ///< factor by which links with head-of-line blocking are slower, at most
  double overlap = 1;                         ///< share of a core's work that proceeds while the network works
  /// within nodes: latency, bytes of one message, and bytes of all ranks of a node
  double within_latency_us = 0, within_byte_ns = 0, memory_byte_ns = 0;
  Copying copying, datatype;
  double datatype_us = 0, cache_bytes = std::numeric_limits<double>::infinity();  ///< as in Machine
  double call_us = 0;                                                             ///< per exchange
};

inline constexpr double envelope_bytes = 16;  ///< of each message: source, tag, communicator

/// The load of an exchange on a network, independent of block size and costs. Node i is host i and has the ranks from
/// i·per_node on.
class NetworkEstimate {
 public:
  /// Computes the load: see exchange_load().
  NetworkEstimate(const Spec& spec, const Shape& shape, const Routing& routing, Rank per_node);

  /// Returns the expected time for blocks of `block_bytes`.
  double time_us(std::int64_t block_bytes, const NetworkCosts& costs) const;

  std::int64_t messages() const { return load_.messages; }
  /// Returns the number of visited messages and of additions to links: the work of the constructor, independent of the
  /// machine.
  std::int64_t operations() const { return load_.operations; }
  const std::vector<StepLoad>& steps() const { return load_.steps; }

 private:
  double pass_us(std::int64_t bytes, const NetworkCosts& costs) const;

  Rank ranks_ = 0;
  bool granted_ = false;
  std::int64_t segment_bytes_ = 0;
  ExchangeLoad load_;
};

}  // namespace swapmeet
