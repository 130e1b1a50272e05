/// What messages, bytes and copies cost on a machine: the numbers that prices are made of (model/price.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace swapmeet {

/// Messages of one kind. Microseconds, and nanoseconds for a byte.
struct MessageCost {
  /// L: from the end of a send's overhead to the beginning of the receive's; flags, in shared memory
  double latency_us = 0;
  double overhead_us = 0;    ///< o: of a send, and again of a receive, that the rank's core is busy
  double gap_us = 0;         ///< g: between the beginnings of two messages of a rank, without their bytes
  double byte_ns = 0;        ///< G: for each byte of a rank's messages, if no other rank of the node sends
  double rendezvous_us = 0;  ///< in addition to L, of messages of more than `eager_bytes`
  std::int64_t eager_bytes = std::numeric_limits<std::int64_t>::max();

  /// Hockney's alpha: a message without bytes takes so long.
  double start_us() const { return latency_us + 2 * overhead_us; }
};

/// What a copy costs: for each byte, and for each piece of memory that lies apart from the one before.
struct Copying {
  double byte_ns = 0, piece_us = 0;
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
  double call_us = 0;          ///< for each exchange
};

enum class Model : std::uint8_t {
  hockney,   ///< messages one after the other, each alpha + bytes · beta
  loggp,     ///< messages of a rank overlap, as far as its core and its link let them
  max_rate,  ///< the same, with ranks of a node that share its link, and with copies
};
inline constexpr std::array<std::string_view, 3> model_names{"hockney", "loggp", "max-rate"};

}  // namespace swapmeet
