/// One exchange, but for its blocks.
#pragma once

#include <cstdint>

#include "mpi/mpi.hpp"
#include "observe/phases.hpp"
#include "team/peers.hpp"

namespace swapmeet {

struct Invocation {
  const Peers* peers = nullptr;  ///< who exchange, for as long as the exchange is under way
  std::uint16_t number = 0;      ///< of the exchange among them, the same on all ranks
  /// Why this rank has no data to send, nor room for what it receives. It takes part nonetheless: the others learn of it.
  int failure = MPI_SUCCESS;
  bool waits = true;            ///< until the rank's own part is over
  PhaseClock* clock = nullptr;  ///< see Watch
};

}  // namespace swapmeet
