/// One intercepted blocking call, which is served by a schedule or left to the host MPI.
#pragma once

#include "session/call.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

namespace swapmeet {

/// The call whose phases are observed. `communicator` is nullptr if none is.
struct Observed {
  Communicator* communicator = nullptr;
  const Decision* decision = nullptr;
  std::uint64_t bytes = 0;
};

/// Bookkeeping of a call that is left to the host MPI. The call is counted, recorded or observed when the host MPI has
/// completed it. By default there is nothing to do.
struct HostCall {
  Decision* decision = nullptr;  ///< nullptr: the call is not counted
  CallCount counted{};
  RecordedCall noted{};
  Observed observed{};
  OnlineTuning* trial = nullptr;  ///< tuning for which this call is a timed trial; nullptr if it is none

  void done() const {
    if (trial) trial->ends();
    if (noted.communicator) noted.done();
    if (decision || observed.communicator) count();
  }

 private:
  void count() const;
};

/// Serves a call on `comm`. Returns true if it is done; `error` is then its MPI error code, which the caller raises on
/// `comm`. Returns false if the caller must pass the call to the host MPI. That happens if the decision is to
/// leave the call to the host MPI, or if the host MPI refused an argument before anything was sent: it then reports the
/// error itself.
bool serve(const Arguments& arguments, MPI_Comm comm, Communicator& communicator, HostCall& host_call, int& error);

/// Serves an MPI_Alltoall whose arguments, except for the addresses, equal those in communicator.fast_paths().repeat. Returns as
/// serve() does.
bool serve_again(const void* send, void* receive, Communicator& communicator, int& error);

}  // namespace swapmeet
