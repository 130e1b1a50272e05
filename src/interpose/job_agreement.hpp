/// What the ranks of the job agree on in MPI_Init: what non-blocking calls rest on, and SWAPMEET_NONBLOCKING=thread, for which all
/// ranks must have threads that advance what they start.
#pragma once

namespace swapmeet {

/// Called once the communicator of the job is there, before the application goes on. Collective over MPI_COMM_WORLD.
void agree_in_job();

/// Waits for the end of this rank's thread, if it has one. Local. To be called before MPI_Finalize: in it MPICH no longer locks
/// what several threads use (mpir_init.c of 5.0), so a thread that is in MPI then leaves a lock taken, which ends the program.
void end_thread();

}  // namespace swapmeet
