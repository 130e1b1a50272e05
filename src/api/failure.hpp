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

/// Calls `body` with the Communicator of `comm`, as guarded_call() does. The Communicator is made and set up if needed;
/// then the call is collective over `comm`. Fails if `comm` is no communicator, or MPI is not initialised. `find`:
/// communicator_of(), or serving_from_now_on() for the state of blocking calls.
template <class Body>
int call_on(
    MPI_Comm comm, Body body, Communicator* (*find)(MPI_Comm) = [](MPI_Comm any) { return communicator_of(any); }) {
  return guarded_call([&]() -> int {
    Communicator* const communicator = comm == MPI_COMM_NULL ? nullptr : find(comm);
    if (!communicator) return failed(MPI_ERR_COMM, "no communicator, or MPI is not initialised");
    communicator->be_ready();
    return body(*communicator);
  });
}

/// Calls `prepare`, which may set `problem`, before a collective call. The other ranks wait for this one, which must make
/// that call even if it has no memory: an exception becomes a problem, and its MPI error is returned.
template <class Prepare>
int prepared(std::string& problem, Prepare prepare) {
  return guarded([&] { return prepare(), MPI_SUCCESS; },
                 [&](int error, const char* what) { return set_text(problem, what), error; });
}

/// The options of the process with the algorithm of `spec`, which the function `from` got; nothing if it is NULL. Sets
/// `problem` if it is malformed.
std::optional<Options> options_by(const char* spec, const char* from, std::string& problem);

}  // namespace swapmeet
