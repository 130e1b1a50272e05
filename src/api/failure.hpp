/// Failures of functions of the public interface. A failed function returns an MPI error and stores a sentence, which
/// swapmeet_error_message() returns.
#pragma once

#include <string>

#include "mpi/guard.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

namespace swapmeet {

/// Stores the sentence `what` for this thread and returns `error`. Without `what`, it stores MPI's text for `error`.
int failed(int error, const std::string& what);
int failed(int error);

/// Stores and returns as failed() does, but never throws. If there is no memory for the sentence, it stores "out of
/// memory".
int failed_by_exception(int error, const char* what) noexcept;

/// Calls `body`, which is the whole body of a function of the public interface. An exception becomes a failure.
template <class Body>
int guarded_call(Body body) {
  return guarded(body, failed_by_exception);
}

/// The Communicator of `comm`, which is made and set up if needed; then the call is collective over `comm`. Returns
/// nullptr if `comm` is no communicator, or MPI is not initialised; the caller then returns no_communicator().
Communicator* known(MPI_Comm comm);

/// The Communicator that serves the blocking calls on `comm`, which duplicates of a communicator may share. Returns as
/// known() does. Local once the communicator is set up, which its first blocking calls may have been left without.
Communicator* known_to_serve(MPI_Comm comm);

/// The failure of a call with an invalid communicator.
int no_communicator();

}  // namespace swapmeet
