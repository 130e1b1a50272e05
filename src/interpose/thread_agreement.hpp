/// SWAPMEET_NONBLOCKING=thread: whether the ranks have threads that advance what they start, on which they agree in MPI_Init.
#pragma once

namespace swapmeet {

/// Called once MPI is initialised, before the application goes on. Collective over MPI_COMM_WORLD where a thread is asked
/// for, else nothing.
void agree_on_thread();

/// Waits for the end of this rank's thread, if it has one. Local. To be called before MPI_Finalize: in it MPICH no longer locks
/// what several threads use (mpir_init.c of 5.0), so a thread that is in MPI then leaves a lock taken, which ends the program.
void end_thread();

}  // namespace swapmeet
