/// MPI_Init and MPI_Init_thread: the one moment that all ranks share before a call that must not wait for others.
#include "api/export.hpp"
#include "interpose/workers.hpp"
#include "interpose/underneath.hpp"

#define SWAPMEET_INIT(name)                                                                                            \
  SWAPMEET_EXPORT int name(int* argc, char*** argv) {                                                                  \
    const int error = swapmeet::underneath<decltype(&name)>("PMPI_Init")(argc, argv);                                  \
    if (!error) swapmeet::agree_on_workers();                                                                            \
    return error;                                                                                                      \
  }

#define SWAPMEET_INIT_THREAD(name)                                                                                     \
  SWAPMEET_EXPORT int name(int* argc, char*** argv, int required, int* provided) {                                     \
    const int error = swapmeet::underneath<decltype(&name)>("PMPI_Init_thread")(argc, argv, required, provided);       \
    if (!error) swapmeet::agree_on_workers();                                                                            \
    return error;                                                                                                      \
  }

SWAPMEET_INIT(MPI_Init)
SWAPMEET_INIT(PMPI_Init)
SWAPMEET_INIT_THREAD(MPI_Init_thread)
SWAPMEET_INIT_THREAD(PMPI_Init_thread)
