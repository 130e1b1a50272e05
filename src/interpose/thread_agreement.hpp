/// SWAPMEET_NONBLOCKING=thread: whether the ranks have threads that advance what they start, on which they agree in MPI_Init.
#pragma once

namespace swapmeet {

/// Called once MPI is initialised, before the application goes on. Collective over MPI_COMM_WORLD where a thread is asked
/// for, else nothing.
void agree_on_thread();

}  // namespace swapmeet
