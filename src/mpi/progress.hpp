/// Being called in the host MPI's own progress: whatever MPI call the application is in, what it has started moves on,
/// without a thread, or with one that looks while the application computes (progress_thread.hpp). Found by symbol, never by version:
///
///   Open MPI  opal_progress_register(), by which its own non-blocking collectives are advanced
///   MPICH     MPIX_Async_start(), from 4.3 on (Source: "MPI Progress For All", arXiv 2405.13807)
///
/// Nothing is registered before there is something to advance.
#pragma once

#include <cstdint>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// What is left to advance: nothing; something; or the host MPI should not give the core away, for something is complete, or
/// it has waited a little in the way that suits the ranks of a node.
enum class Left : std::uint8_t { nothing, something, rested };

/// Does what can be done. Called in several threads at a time, perhaps, and within calls of the host MPI that it makes
/// itself.
using Advance = Left (*)();

class ProgressThread;

/// `thread` advances as well from now on, where all ranks have one; nullptr: no more. Not while there is something to advance.
void advance_by_thread(ProgressThread* thread);
bool has_progress_thread();

/// "; advanced ...", which ends an explanation of what serves an exchange that is started.
const char* advanced_by();

/// Whether the host MPI calls others in its progress, or a thread advances. The same on all ranks of a job with one MPI.
bool has_progress();

/// There is something to advance: from now on the host MPI calls `advance`, always the same, in its progress. Any thread;
/// local.
void begin_progress(Advance advance);

/// Has the host MPI call `look`, always the same, in its progress until end_looking(). False: this MPI calls nobody. Not
/// twice without an end between. Any thread; local.
bool begin_looking(bool (*look)());
void end_looking();

/// To be called before MPI_Finalize: from now on MPICH is not asked to call anybody, which it refuses there by ending the program.
/// What is started in MPI_Finalize, in delete callbacks of MPI_COMM_SELF, moves on there in what waits for it.
void end_progress();

/// Whether several threads of this process may call MPI at once.
bool has_several_threads();

/// Whether what is advanced must leave messages and collectives of the host MPI alone: with MPI_THREAD_MULTIPLE, MPICH 5.0
/// ends the program where it finds its locks taken by itself. Not where a thread advances: then nothing is registered there.
bool progress_is_locked();

/// Lets the host MPI go on with messages, by a look for one that nobody sends: if it found one it would do nothing else. So it looks
/// on the communicator of the job, if there is one; on MPI_COMM_WORLD the application may have left one unreceived.
void look_for_messages();
/// MPI_COMM_NULL: there is none.
void look_for_messages_on(MPI_Comm job);

/// The largest tag that the MPI allows.
int most_tag();

/// What a generalised request needs, as of MPI_Grequest_start().
struct RequestCalls {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  bool (*over)(void* state);  ///< whether it is complete
};

/// Makes a generalised request for something that `advance`, as of begin_progress(), will complete. Local. Returns as MPI
/// does.
int make_request(Advance advance, const RequestCalls& calls, void* state, MPI_Request* request);

/// The host MPI raises errors of generalised requests on MPI_COMM_WORLD, whose handler mostly ends the program. To be
/// called by a query function that has raised one where it belongs, and returns it: the host MPI then returns it, too.
/// Holds until the host MPI makes progress again.
void return_next_error();

}  // namespace swapmeet
