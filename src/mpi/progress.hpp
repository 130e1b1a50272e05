/// Callbacks in the host MPI's progress. By them, started exchanges advance in any MPI call of the application, without
/// a thread. A thread may advance them in addition while the application computes (progress_thread.hpp). The functions
/// that register callbacks are found by their symbols, never by the MPI's version:
///
///   Open MPI  opal_progress_register(), by which its own non-blocking collectives are advanced
///   MPICH     MPIX_Async_start(), from 4.3 on (Source: "MPI Progress For All", arXiv 2405.13807)
///
/// Nothing is registered before there is something to advance.
#pragma once

#include <cstdint>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// The result of an attempt to advance. `idle`: nothing was under way. `active`: something was. `rested`: something was,
/// and the host MPI should not yield the core now: an exchange has completed, or the callback has already waited a
/// little in the way that suits the ranks of a node.
enum class AdvanceResult : std::uint8_t { idle, active, rested };

/// A callback that advances all started exchanges without waiting. It may be called by several threads at a time, and
/// recursively within calls of the host MPI that it makes itself.
using Advance = AdvanceResult (*)();

class ProgressThread;

/// Lets `thread` advance started exchanges from now on, in MPICH instead of callbacks, in other MPIs in addition to
/// them. That requires that all ranks have a thread. nullptr ends it. Must not be called while there is something to
/// advance.
void advance_by_thread(ProgressThread* thread);
bool has_progress_thread();

/// "; advanced ...": the end of an explanation of the algorithm of a started exchange.
const char* advanced_by();

/// Whether started exchanges can advance: the host MPI calls callbacks in its progress, or there is a thread. The same
/// on all ranks of a job with one MPI.
bool has_progress();

/// Reports that there is something to advance: from now on the host MPI calls `advance` in its progress. `advance` must
/// be the same in all calls. Any thread; local.
void begin_progress(Advance advance);

/// Makes the host MPI call `look` in its progress until end_looking(). `look` must be the same in all calls. Returns
/// false if this MPI has no callbacks. Two calls need an end_looking() between them. Any thread; local.
bool begin_looking(bool (*look)());
void end_looking();

/// Ends the registration of callbacks. It must be called before MPI_Finalize, in which MPICH ends the program if a
/// callback is registered. Exchanges that are started in MPI_Finalize, by delete callbacks of MPI_COMM_SELF, advance in
/// the calls that wait for them.
void end_progress();

/// Whether several threads of this process may call MPI at once.
bool has_several_threads();

/// Whether callbacks in the host MPI's progress must not call its messages and collectives. That is so in MPICH with
/// MPI_THREAD_MULTIPLE: MPICH 5.0 ends the program when a thread takes one of its locks a second time. It is not so if
/// a progress thread advances exchanges, since no callback is registered then.
bool progress_is_locked();

/// Lets the host MPI advance its messages, by a probe for a message that no rank sends: a probe that finds a message
/// makes no further progress. It probes on the communicator of the job, if there is one. On MPI_COMM_WORLD it might
/// find an unreceived message of the application.
void look_for_messages();
/// Sets the communicator of the job, on which look_for_messages() probes. MPI_COMM_NULL if there is none.
void look_for_messages_on(MPI_Comm job);

/// The largest tag that the MPI allows.
int most_tag();

/// The callbacks of a generalised request, as MPI_Grequest_start() takes them.
struct RequestCalls {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  bool (*over)(void* state);  ///< returns whether the request is complete
};

/// Makes a generalised request for an operation that `advance` will complete (see begin_progress()). Local. Returns an
/// MPI error code.
int make_request(Advance advance, const RequestCalls& calls, void* state, MPI_Request* request);

/// Makes the host MPI return the next error of a generalised request to the application. Without it, the host MPI
/// raises such an error on MPI_COMM_WORLD, whose error handler usually ends the program. A query function calls it when
/// it has raised an error on the communicator of the exchange and returns that error. It takes effect until the host
/// MPI makes progress again.
void return_next_error();

}  // namespace swapmeet
