/// The machine that is assumed where nobody has described it.
#pragma once

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

}  // namespace swapmeet
