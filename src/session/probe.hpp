/// What a message between nodes takes, measured by the job's own ranks, in bounded time: what prices rest on where nobody
/// has described the machine (choose/description.hpp).
#pragma once

#include <string>

#include "choose/select.hpp"
#include "mpi/mpi.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// As far as it was measured.
struct MeasuredNetwork {
  double start_us = 0;  ///< a message without bytes, one way; 0: not known
  double byte_ns = -1;  ///< for each byte in addition; negative: not known
  double took_us = 0;   ///< to measure it

  bool known() const { return start_us > 0; }
};

/// By messages of 8 B to 64 KiB there and back between rank 0 and `partner`, the shortest of three each. Takes at most 0.5 %
/// of the time since rank 0 began, and 20 ms: a size is left out if eight times the time of the one before is more than is
/// left. What the process of rank 0 has measured before holds on. Collective over `comm`, on which no other message may be
/// under way; the same on all ranks.
MeasuredNetwork probe_network(MPI_Comm comm, Rank rank, Rank partner);

/// The machine that is assumed, but with this network between its nodes; and how far such a description may be off.
void describe_network(const MeasuredNetwork& network, Knowledge& knowledge);

/// As in "52.1 us a message, 8.05 ns a byte, measured in 3.1 ms"
std::string to_text(const MeasuredNetwork& network);

}  // namespace swapmeet
