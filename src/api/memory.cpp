/// The functions swapmeet_memory_allocate() and swapmeet_memory_free().
#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "api/failure.hpp"

SWAPMEET_EXPORT int swapmeet_memory_allocate(MPI_Comm comm, MPI_Aint bytes, void* base) {
  return swapmeet::guarded_call([&]() -> int {
    swapmeet::Communicator* const communicator = swapmeet::known(comm);
    if (!communicator) return swapmeet::no_communicator();
    constexpr MPI_Aint most = MPI_Aint{1} << 48;
    const bool valid = bytes >= 0 && bytes <= most && base;
    char* memory = nullptr;
    const int error = communicator->node().allocate(valid ? bytes : 0, memory);  // collective: also after a mistake
    if (error || valid) {
      if (!error) *static_cast<void**>(base) = memory;
      return error ? swapmeet::failed(error) : error;
    }
    swapmeet::context().regions.remove(memory);
    if (bytes > most) return swapmeet::failed(MPI_ERR_NO_MEM, "no machine has that much memory");
    return swapmeet::failed(MPI_ERR_ARG, base ? "the number of bytes is negative" : "the address for the base is NULL");
  });
}

SWAPMEET_EXPORT int swapmeet_memory_free(void* base) {
  return swapmeet::guarded_call([&]() -> int {
    if (!base || swapmeet::context().regions.remove(base)) return MPI_SUCCESS;
    return swapmeet::failed(MPI_ERR_ARG, "not an address that swapmeet_memory_allocate gave, or freed already");
  });
}
