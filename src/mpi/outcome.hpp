/// Classes of MPI errors by their consequences, and repetition of failed calls.
#pragma once

#include <span>

#include "mpi/faults.hpp"
#include "mpi/mpi.hpp"

namespace swapmeet {

/// Whether `error` says that a message was longer than its receive buffer. The receive is complete nonetheless.
bool truncated(int error);

/// Calls an MPI function that other ranks take part in, and repeats the call while it fails (repeat_unless()). It is
/// not repeated if final(error) is true or a rank has died.
template <class Final, class Function, class... Arguments>
[[gnu::always_inline]] inline int again_unless(Final final, Function function, Arguments... arguments) {
  const int error = function(arguments...);
  if (error == MPI_SUCCESS) [[likely]]
    return error;
  return repeat_unless([final](int why) { return final(why) || is_fault(why); }, error, function, arguments...);
}

template <class Function, class... Arguments>
int again(Function function, Arguments... arguments) {
  return again_unless([](int) { return false; }, function, arguments...);
}

/// Calls PMPI_Test on `request`, and repeats the call if it fails before the request is complete.
inline int test_again(MPI_Request& request, int& done, MPI_Status* status = MPI_STATUS_IGNORE) {
  return again_unless([&request](int) { return request == MPI_REQUEST_NULL; }, PMPI_Test, &request, &done, status);
}

/// Gives up requests after an error. Receives are cancelled, so that nothing arrives in the application's buffers any
/// more. Sends go on, so their buffers must stay allocated.
void abandon(std::span<MPI_Request> receives, std::span<MPI_Request> sends);

}  // namespace swapmeet
