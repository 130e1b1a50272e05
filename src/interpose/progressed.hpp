/// Persistent all-to-alls that move on in the host MPI's progress, each a plan with a communicator of its own: they may be
/// started in any order.
#pragma once

#include <memory>

#include "mpi/mpi.hpp"
#include "session/planned.hpp"

namespace swapmeet {

/// Ends the plans of requests that have been freed, as far as they are over; others may use what they had. Local.
void end_freed_plans();

/// Makes the persistent request that starts `planned`, on the application's communicator `user`: an error of an exchange ends
/// the program where its errors are fatal, else what completes the request returns it. Local. Returns as MPI does.
int make_persistent(std::unique_ptr<Planned> planned, MPI_Comm user, MPI_Request* request);

}  // namespace swapmeet
