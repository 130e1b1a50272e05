/// Cost parameters of a machine for messages, bytes and copies, from which prices are computed (model/price.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace swapmeet {

constexpr double us_of_ns = 1e-3;

/// Cost of messages over one kind of link, in microseconds; costs of a byte are in nanoseconds.
struct MessageCost {
  /// L: time from the end of the sender's overhead to the beginning of the receiver's. In shared memory it is the time
  /// for flags.
  double latency_us = 0;
  /// o: time that a rank's core is busy with a send; a receive takes the same again
  double overhead_us = 0;
  /// g: time between the beginnings of two messages of a rank, without their bytes
  double gap_us = 0;
  /// G: time for each byte of a rank's messages, if no other rank of the node sends
  double byte_ns = 0;
  double rendezvous_us = 0;  ///< in addition to L, for messages of more than `eager_bytes`
  std::int64_t eager_bytes = std::numeric_limits<std::int64_t>::max();
  /// Number of round trips in the handshake of a message larger than `eager_bytes`. Each costs 2L, and o at each end's
  /// core.
  double handshake_trips = 0;
  /// Time for each byte of the first fragment of a message, which is copied or fetched as a whole before any of it is
  /// sent.
  double fragment_byte_ns = 0;
  std::int64_t fragment_bytes = std::numeric_limits<std::int64_t>::max();
  /// Number of peers that MPI and the NIC keep ready. A message to or from another peer costs each end's core `cold_us`
  /// more.
  std::int64_t cached_peers = std::numeric_limits<std::int64_t>::max();
  double cold_us = 0;

  /// Returns Hockney's alpha: the time of a message without bytes.
  double start_us() const { return latency_us + 2 * overhead_us; }

  /// Returns the time that a core at each end is busy with a message, in an exchange with so many peers. The peers that
  /// are kept ready are assumed to be random. So the share of messages whose peer is ready falls as the number of peers
  /// grows.
  double core_us(double peers) const {
    const auto kept = static_cast<double>(cached_peers);
    return overhead_us + (peers > kept ? cold_us * (1 - kept / peers) : 0);
  }

  bool is_eager(double bytes) const { return bytes <= static_cast<double>(eager_bytes); }

  /// Returns the time of a message besides L, o and its bytes on the wire, if no other message hides that time.
  double startup_us(double bytes) const {
    const double first = bytes < static_cast<double>(fragment_bytes) ? bytes : static_cast<double>(fragment_bytes);
    return first * fragment_byte_ns * us_of_ns + (is_eager(bytes) ? 0 : 2 * latency_us * handshake_trips);
  }

  bool operator==(const MessageCost&) const = default;
};

/// Cost of a copy: for each byte, and for each piece of memory that is not contiguous with the previous one.
struct Copying {
  double byte_ns = 0, piece_us = 0;
  double uncached_byte_ns = 0;  ///< in addition, for each byte that is not in the cache

  /// Returns the time per byte for a rank whose send and receive buffers together have `buffer_bytes`, with a cache of
  /// `cache_bytes`. The cache is assumed to hold as much of the buffers as fits.
  double byte_ns_of(double buffer_bytes, double cache_bytes) const {
    return byte_ns + (buffer_bytes > cache_bytes ? uncached_byte_ns * (1 - cache_bytes / buffer_bytes) : 0);
  }

  bool operator==(const Copying&) const = default;
};

struct Machine {
  MessageCost shared;   ///< within a node, without MPI (intra != mpi)
  MessageCost within;   ///< within a node, by MPI
  MessageCost between;  ///< between nodes
  /// for each byte that leaves a node, independent of the number of ranks: 1 / injection bandwidth
  double node_byte_ns = 0;
  double node_message_us = 0;  ///< for each message that leaves a node: 1 / message rate
  double memory_byte_ns = 0;   ///< for each byte of messages within a node, independent of the number of ranks
  Copying pack;                ///< copies by memcpy
  Copying datatype;            ///< copies by MPI, in messages of scattered blocks
  /// for each message of a derived datatype: making the datatype, and starting MPI's pack engine
  double datatype_us = 0;
  /// Cache of a rank. Bytes of its send and receive buffers beyond this size are in memory.
  double cache_bytes = std::numeric_limits<double>::infinity();
  double call_us = 0;  ///< for each exchange

  bool operator==(const Machine&) const = default;
};

enum class Model : std::uint8_t {
  hockney,   ///< messages follow one another, each costs alpha + bytes · beta
  loggp,     ///< messages of a rank overlap, as far as its core and its link allow
  max_rate,  ///< as loggp, with ranks of a node that share its link, and with copies
  /// as max-rate, but a rank's core, its node's link and the latency of messages overlap
  pipelined,
};
inline constexpr std::array<std::string_view, 4> model_names{"hockney", "loggp", "max-rate", "pipelined"};

}  // namespace swapmeet
