/// The machine that is assumed where nobody has described it.
#pragma once

#include <string>

#include "model/machine.hpp"

namespace swapmeet {

/// A cluster as they are common: nodes on a network of 100 Gb/s. The numbers are those of the built-in machine `cluster`
/// (python/swapmeet/machines/cluster.json, assumptions with their bounds), but for shared memory: on a node it has been
/// faster than any MPI at every size (docs/measurements/node.md).
inline Machine standard_machine() {
  Machine machine;
  machine.between = {
      .latency_us = 1.2, .overhead_us = 0.3, .gap_us = 0.1, .byte_ns = 0.08, .rendezvous_us = 3, .eager_bytes = 8192};
  machine.within = {.latency_us = 0.25, .overhead_us = 0.1, .byte_ns = 0.133};
  machine.shared = {.latency_us = 0.2, .overhead_us = 0.03, .byte_ns = 0.1};
  machine.node_byte_ns = 0.08;
  machine.node_message_us = 0.02;
  machine.memory_byte_ns = 0.01;
  machine.pack = machine.datatype = {.byte_ns = 0.1, .piece_us = 0.01};
  machine.datatype.piece_us = 0.03;
  machine.call_us = 0.2;
  return machine;
}

/// What messages between nodes take, and copies of the rank that measured them, as far as it was measured.
struct MeasuredNetwork {
  double start_us = 0;     ///< a message without bytes, one way; 0: not known
  double message_us = -1;  ///< one of several in a row; negative: not known
  double byte_ns = -1;     ///< for each byte in addition; negative: not known
  double piece_us = -1;    ///< of a copy, for each piece that lies apart; negative: not known
  double copy_ns = -1;     ///< for each byte of it in addition; negative: not known
  double took_us = 0;      ///< to measure it

  bool known() const { return start_us > 0; }
  bool complete() const { return byte_ns >= 0; }

  bool operator==(const MeasuredNetwork&) const = default;
};

/// `machine`, but with this network between its nodes. What a message or a copy takes of a core is as assumed, unless that
/// is half or less of what was measured: smaller differences are within the model's errors
/// (docs/measurements/programs.md). A message takes at least an eighth of its way: on a slow network the system's software
/// does most of it, and messages in a row are combined. Where nobody knows what bytes take, a network whose messages start
/// later than is assumed is taken to be slow with bytes as well.
Machine described_by(const MeasuredNetwork& network, Machine machine);

/// As in "52.1 us a message, 2.1 us one of several, 8.05 ns a byte; 0.004 us a copied piece, 0.1 ns a byte; measured in
/// 3.1 ms"
std::string to_text(const MeasuredNetwork& network);

}  // namespace swapmeet
