/// The parameters of one exchange, except for its blocks.
#pragma once

#include <cstdint>

#include "mpi/mpi.hpp"
#include "observe/phases.hpp"
#include "team/team.hpp"

namespace swapmeet {

struct Invocation {
  Team* team = nullptr;      ///< the participating ranks; valid until the exchange is complete
  std::uint16_t number = 0;  ///< number of the exchange among these ranks, the same on all of them
  /// The error for which this rank has no data to send and no room for received data. It takes part nonetheless, so
  /// that the other ranks learn of the failure.
  int failure = MPI_SUCCESS;
  bool waits = true;             ///< whether the call blocks until the rank's own part is complete
  Observer* observer = nullptr;  ///< of the calls on the communicator; nullptr: see Watch
};

}  // namespace swapmeet
