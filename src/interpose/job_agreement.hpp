/// The agreement of all ranks of the job in MPI_Init. It settles the settings that non-blocking calls depend on, among
/// them SWAPMEET_NONBLOCKING=thread, which requires that every rank has a thread that advances its exchanges.
#pragma once

namespace swapmeet {

/// Makes the agreement. It is called in MPI_Init, once the communicator of the job exists. Collective over
/// MPI_COMM_WORLD.
void agree_in_job();

/// Ends this rank's progress thread, if it has one, and waits for its end. Local. It must be called before
/// MPI_Finalize: in MPI_Finalize, MPICH no longer locks the state that threads share (mpir_init.c of 5.0). A thread
/// that is inside MPI at that moment leaves a lock taken, which ends the program.
void end_thread();

}  // namespace swapmeet
