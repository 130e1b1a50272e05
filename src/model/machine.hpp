/// What messages, bytes and copies cost on a machine: the numbers that prices are made of (model/price.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace swapmeet {

constexpr double us_of_ns = 1e-3;

/// Messages of one kind. Microseconds, and nanoseconds for a byte.
struct MessageCost {
  /// L: from the end of a send's overhead to the beginning of the receive's; flags, in shared memory
  double latency_us = 0;
  double overhead_us = 0;    ///< o: of a send, and again of a receive, that the rank's core is busy
  double gap_us = 0;         ///< g: between the beginnings of two messages of a rank, without their bytes
  double byte_ns = 0;        ///< G: for each byte of a rank's messages, if no other rank of the node sends
  double rendezvous_us = 0;  ///< in addition to L, of messages of more than `eager_bytes`
  std::int64_t eager_bytes = std::numeric_limits<std::int64_t>::max();
  /// Of the handshake of a larger message: each trip there and back costs 2L, and each end's core another o.
  double handshake_trips = 0;
  /// For each byte of a message's first fragment: it is copied or fetched whole before any of it is on the wire.
  double fragment_byte_ns = 0;
  std::int64_t fragment_bytes = std::numeric_limits<std::int64_t>::max();
  /// Peers that the MPI and the NIC keep ready. A message to or from another costs each end's core `cold_us` more.
  std::int64_t cached_peers = std::numeric_limits<std::int64_t>::max();
  double cold_us = 0;

  /// Hockney's alpha: a message without bytes takes so long.
  double start_us() const { return latency_us + 2 * overhead_us; }

  /// What a core is busy with for a message, at each end, in an exchange with so many peers. Which of them are kept is
  /// taken to be random, so the share of messages that find theirs kept falls as their number grows.
  double core_us(double peers) const {
    const auto kept = static_cast<double>(cached_peers);
    return overhead_us + (peers > kept ? cold_us * (1 - kept / peers) : 0);
  }

  bool is_eager(double bytes) const { return bytes <= static_cast<double>(eager_bytes); }

  /// What a message of so many bytes that nothing else hides takes besides L, o and its bytes on the wire.
  double startup_us(double bytes) const {
    const double first = bytes < static_cast<double>(fragment_bytes) ? bytes : static_cast<double>(fragment_bytes);
    return first * fragment_byte_ns * us_of_ns + (is_eager(bytes) ? 0 : 2 * latency_us * handshake_trips);
  }

  bool operator==(const MessageCost&) const = default;
};

/// What a copy costs: for each byte, and for each piece of memory that lies apart from the one before.
struct Copying {
  double byte_ns = 0, piece_us = 0;
  double uncached_byte_ns = 0;  ///< in addition, for each byte whose buffers are larger than the cache

  /// Of a rank whose send and receive buffers have `buffer_bytes` together, next to a cache of `cache_bytes`: so much of
  /// them as fits is in the cache.
  double byte_ns_of(double buffer_bytes, double cache_bytes) const {
    return byte_ns + (buffer_bytes > cache_bytes ? uncached_byte_ns * (1 - cache_bytes / buffer_bytes) : 0);
  }

  bool operator==(const Copying&) const = default;
};

struct Machine {
  MessageCost shared;   ///< within a node, without MPI (intra != mpi)
  MessageCost within;   ///< within a node, by MPI
  MessageCost between;  ///< between nodes
  /// for each byte that leaves a node, whatever the number of ranks: 1 / injection bandwidth
  double node_byte_ns = 0;
  double node_message_us = 0;  ///< for each message that leaves a node: 1 / message rate
  double memory_byte_ns = 0;   ///< for each byte of messages within a node, whatever the number of ranks
  Copying pack;                ///< by memcpy
  Copying datatype;            ///< by MPI, in messages of scattered blocks
  double datatype_us = 0;      ///< for each message of a derived datatype: making it, and starting MPI's pack engine
  /// of a rank; more than that, of its send and receive buffers together, lies in memory
  double cache_bytes = std::numeric_limits<double>::infinity();
  double call_us = 0;  ///< for each exchange

  bool operator==(const Machine&) const = default;
};

enum class Model : std::uint8_t {
  hockney,    ///< messages one after the other, each alpha + bytes · beta
  loggp,      ///< messages of a rank overlap, as far as its core and its link let them
  max_rate,   ///< the same, with ranks of a node that share its link, and with copies
  pipelined,  ///< the same, but a rank's core, its node's link and the way of messages work at the same time
};
inline constexpr std::array<std::string_view, 4> model_names{"hockney", "loggp", "max-rate", "pipelined"};

}  // namespace swapmeet
