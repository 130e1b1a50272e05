/// swapmeet_memory_allocate() and swapmeet_memory_free().
#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "execute/context.hpp"

SWAPMEET_EXPORT int swapmeet_memory_allocate(MPI_Comm comm, MPI_Aint bytes, void* base) {
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  swapmeet::Communicator* const communicator = swapmeet::communicator_of(comm);
  if (!communicator) return MPI_ERR_COMM;
  constexpr MPI_Aint most = MPI_Aint{1} << 48;
  const bool valid = bytes >= 0 && bytes <= most && base;
  char* memory = nullptr;
  const int error = communicator->allocate(valid ? bytes : 0, memory);  // the other ranks wait for this one
  if (error || valid) {
    if (!error) *static_cast<void**>(base) = memory;
    return error;
  }
  swapmeet::context().regions.remove(memory);
  return bytes > most ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
}

SWAPMEET_EXPORT int swapmeet_memory_free(void* base) {
  return !base || swapmeet::context().regions.remove(base) ? MPI_SUCCESS : MPI_ERR_ARG;
}
