/// The state of the library for a communicator, given its handle.
#pragma once

#include <cstdint>

#include "mpi/mpi.hpp"
#include "session/context.hpp"
#include "session/recent.hpp"

namespace swapmeet {

struct FirstCall;

/// The cache of the calling thread; in a simulation, of the calling rank.
extern constinit thread_local Recent recent_of_thread __attribute__((tls_model("initial-exec")));
inline Recent& recent() {
  if constexpr (simulated) return context().recent;
  return recent_of_thread;
}

/// The state of the library for `comm`. The first call makes it, and is collective over `comm`; with SetUp::later it
/// does not wait for other ranks. Returns nullptr, on all ranks alike, if MPI does not allow it; the caller then uses
/// the host MPI.
enum class SetUp : std::uint8_t {
  now,                ///< in a function of this library, which may make the communicator of the job
  in_mpi_call,        ///< now, but in a function of MPI: other threads may be making communicators
  later,              ///< in a later call
  after_first_calls,  ///< as in_mpi_call, unless this call can be left to the host MPI as one of the first
};
Communicator* communicator_of(MPI_Comm comm, SetUp set_up = SetUp::now);

/// The state for a blocking call on `comm`, which may be shared by all duplicates of a communicator. Returns nullptr
/// also for a first call on `comm` that is left to the host MPI.
Communicator* serving(MPI_Comm comm, const FirstCall* first = nullptr);
/// The same state, which is made if it does not exist: none of the first calls is left any more. Collective then.
Communicator* serving_from_now_on(MPI_Comm comm);

/// Whether the host MPI knows `comm`: it is neither MPI_COMM_NULL nor freed. Unlike other calls of MPI, this calls no
/// error handler. So an all-to-all on an invalid communicator is left to the host MPI, which raises its error once.
/// Local.
bool is_communicator(MPI_Comm comm);

/// The state that belongs to `comm` alone, if it exists; else nullptr. Local. known_for() is faster for a communicator
/// that this thread has used lately.
Communicator* kept_for(MPI_Comm comm);
Communicator* known_for(MPI_Comm comm);

/// Raises an error of an exchange on `comm`, on this rank. Returns the error, or the error of a fault if a rank has
/// died.
int raise(MPI_Comm comm, int error);

/// The attribute that holds this state calls it when the application frees its communicator. Local.
int delete_kept(MPI_Comm comm, int keyval, void* attribute, void* extra);

}  // namespace swapmeet
