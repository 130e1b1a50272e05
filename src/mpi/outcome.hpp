/// Errors of MPI calls, by what follows from them.
#pragma once

#include <span>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// Whether MPI refused the arguments of a call, so that nothing was sent.
bool refused(int error);

/// Whether a message was longer than the room for it. It is over nonetheless.
bool truncated(int error);

/// Makes a call of MPI, and once more if it fails: what failed is often over then, and a rank that leaves a call out is
/// out of step with the others.
template <class Function, class... Arguments>
int again(Function function, Arguments... arguments) {
  const int error = function(arguments...);
  return error == MPI_SUCCESS ? error : function(arguments...);
}

/// After an error: nothing may arrive in the application's buffers any more. Sends are left alone: what they send must
/// stay where it is.
void abandon(std::span<MPI_Request> receives, std::span<MPI_Request> sends);

}  // namespace swapmeet
