/// The description of the machine that the model assumes if the user has given none.
#pragma once

#include <string>

#include "model/machine.hpp"

namespace swapmeet {

/// A common cluster: nodes on a network of 100 Gb/s. The numbers are those of the built-in machine `cluster`
/// (python/swapmeet/machines/cluster.json, assumptions with their bounds), except for those of shared memory. These
/// make shared memory the fastest choice within a node, as it has been faster than any MPI at every size
/// (docs/measurements/node.md).
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

/// Measured times of messages between nodes, and of copies by the measuring rank. Times that are not measured (yet) are
/// marked as unknown.
struct MeasuredNetwork {
  double start_us = 0;     ///< one-way time of an empty message; 0: unknown
  double message_us = -1;  ///< time per message of several in a row; negative: unknown
  double byte_ns = -1;     ///< additional time per byte; negative: unknown
  double piece_us = -1;    ///< time per contiguous piece of a copy; negative: unknown
  double copy_ns = -1;     ///< additional time per copied byte; negative: unknown
  double took_us = 0;      ///< duration of the measurement

  bool known() const { return start_us > 0; }
  bool complete() const { return byte_ns >= 0; }

  bool operator==(const MeasuredNetwork&) const = default;
};

/// Returns `machine` with the measured network between its nodes.
///
/// A measured time that a core spends on a message or a copy replaces the assumed one only if it is more than twice as
/// long: smaller differences are within the model's errors (docs/measurements/programs.md). The core is assumed to be
/// busy for at least an eighth of a message's one-way time, since on a slow network the system's software takes most of
/// that time, and since consecutive messages are combined when they are measured. If the time per byte is unknown, it
/// is scaled by the ratio of the measured to the assumed start time of a message, where that is above 1.
Machine described_by(const MeasuredNetwork& network, Machine machine);

/// Returns a text such as "52.1 us a message, 2.1 us one of several, 8.05 ns a byte; 0.004 us a copied piece, 0.1 ns a
/// byte; measured in 3.1 ms".
std::string to_text(const MeasuredNetwork& network);

}  // namespace swapmeet
