/// One intercepted blocking call, which is served by a schedule or left to the host MPI.
#pragma once

#include "session/call.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

namespace swapmeet {

/// Serves a call on `comm`. Returns true if it is done; `error` is then its MPI error code, which the caller raises on
/// `comm`. Returns false if the caller must pass the call to the host MPI. That happens if the decision is to
/// leave the call to the host MPI, or if the host MPI refused an argument before anything was sent: it then reports the
/// error itself. `ends_later` is set if the call is observed: the caller must then report its end to that observer.
bool serve(const Arguments& arguments, MPI_Comm comm, Communicator& communicator, CallObserver*& ends_later,
           int& error);

/// Serves an MPI_Alltoall whose arguments, except for the addresses, equal those in communicator.fast_paths().repeat. Returns as
/// serve() does.
bool serve_again(const void* send, void* receive, Communicator& communicator, int& error);

}  // namespace swapmeet
