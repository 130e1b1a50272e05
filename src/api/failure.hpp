/// How functions of the public interface fail: with a class of MPI errors, and a sentence for swapmeet_error_message().
#pragma once

#include <string>

#include "mpi/guard.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

namespace swapmeet {

/// Remembers `what` for this thread and returns `error`. Without `what`: what MPI says of it.
int failed(int error, const std::string& what);
int failed(int error);

/// The same where nothing may be thrown: "out of memory" if there is none for the sentence.
int failed_by_exception(int error, const char* what) noexcept;

/// Calls `body`, the whole of a function of the public interface. What it throws is a failure like any other.
template <class Body>
int guarded_call(Body body) {
  return guarded(body, failed_by_exception);
}

/// What we keep for `comm`; nullptr: nothing, for it is no communicator, which no_communicator() says.
Communicator* known(MPI_Comm comm);

/// The same, of what serves its blocking calls, which duplicates of a communicator may share: once one was made, local.
Communicator* known_to_serve(MPI_Comm comm);
int no_communicator();

}  // namespace swapmeet
