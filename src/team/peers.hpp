/// The means by which the ranks of a communicator, or of a plan, communicate.
#pragma once

#include <climits>

#include "mpi/mpi.hpp"

namespace swapmeet {

class Team;

struct Peers {
  /// For ranks that communicate only by collective calls of the host MPI, in blocking calls.
  Peers(MPI_Comm application) : comm(application) {}  // NOLINT(google-explicit-constructor)
  Peers(MPI_Comm application, Team& whole, MPI_Comm self) : comm(application), team(&whole), alone(self) {}

  MPI_Comm comm;         ///< the application's communicator, for collective calls of the host MPI in blocking calls
  Team* team = nullptr;  ///< for messages of the library; nullptr if there are none
  /// Most ranks among which records that only node peers need are gathered on all ranks. On more ranks they are
  /// exchanged within nodes only.
  int gathered = INT_MAX;
  MPI_Comm alone = MPI_COMM_NULL;  ///< communicator of this rank alone, for packing and for messages to itself
};

}  // namespace swapmeet
