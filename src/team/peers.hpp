/// How the ranks of a communicator, or of a plan, reach one another.
#pragma once

#include <climits>

#include "mpi/mpi.hpp"

namespace swapmeet {

class Team;

struct Peers {
  /// Where only calls that wait exchange something.
  Peers(MPI_Comm application) : comm(application) {}  // NOLINT(google-explicit-constructor)
  Peers(MPI_Comm application, Team& whole, MPI_Comm self) : comm(application), team(&whole), alone(self) {}

  MPI_Comm comm;           ///< of the application: for collective calls of the host MPI, in calls that wait
  Team* team = nullptr;    ///< for messages of ours
  int gathered = INT_MAX;  ///< on more ranks than these, what the ranks of a node tell one another is not told to all
  MPI_Comm alone = MPI_COMM_NULL;  ///< of this rank alone: to pack on, and for what a rank sends to itself
};

}  // namespace swapmeet
