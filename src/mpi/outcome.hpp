/// Errors of MPI calls, by what follows from them.
#pragma once

#include <span>

#include "mpi/faults.hpp"
#include "mpi/mpi.hpp"

namespace swapmeet {

/// Whether a message was longer than the room for it. It is over nonetheless.
bool truncated(int error);

template <class Final, class Function, class... Arguments>
[[gnu::noinline, gnu::cold]] int repeat_unless(int error, Final final, Function function, Arguments... arguments) {
  for (int attempt = 2; error != MPI_SUCCESS && !final(error) && !is_fault(error) && attempt <= most_attempts;
       ++attempt)
    error = function(arguments...);
  return error;
}

/// Makes a call of MPI, and again while it fails, unless final(error) or a rank has died: what failed is often over then,
/// and a rank that leaves a call out is out of step with the others.
template <class Final, class Function, class... Arguments>
[[gnu::always_inline]] inline int again_unless(Final final, Function function, Arguments... arguments) {
  const int error = function(arguments...);
  if (error == MPI_SUCCESS) [[likely]]
    return error;
  return repeat_unless(error, final, function, arguments...);
}

template <class Function, class... Arguments>
int again(Function function, Arguments... arguments) {
  return again_unless([](int) { return false; }, function, arguments...);
}

/// Looks whether `request` is over, and again where that fails before it is.
inline int test_again(MPI_Request& request, int& done, MPI_Status* status = MPI_STATUS_IGNORE) {
  return again_unless([&request](int) { return request == MPI_REQUEST_NULL; }, PMPI_Test, &request, &done, status);
}

/// After an error: nothing may arrive in the application's buffers any more. Sends are left alone: what they send must
/// stay where it is.
void abandon(std::span<MPI_Request> receives, std::span<MPI_Request> sends);

}  // namespace swapmeet
