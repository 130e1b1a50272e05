/// The entry points MPI_Alloc_mem and MPI_Free_mem. If the options ask for it, they return blocks that node peers can
/// map. All other calls, and calls with invalid arguments, are left to the host MPI.
#include "api/export.hpp"
#include "heap/heap.hpp"
#include "interpose/foreign.hpp"
#include "session/context.hpp"

using swapmeet::Handle;

namespace {

/// Allocates a block. Returns nullptr if the call is left to the host MPI: always if it has an info object, whose hints
/// are about the host MPI's memory.
void* block_of(MPI_Aint bytes, Handle info, const void* base) {
  if (bytes <= 0 || !base || !swapmeet::mpi_suits() || swapmeet::as<MPI_Info>(info) != MPI_INFO_NULL) return nullptr;
  const swapmeet::Context& all = swapmeet::context();
  if (!all.attached.load(std::memory_order_acquire) || all.world_ranks == 1 || swapmeet::simulated) return nullptr;
  const std::int64_t least_bytes = all.options.heap_block_bytes;
  if (least_bytes == 0 || bytes < least_bytes) return nullptr;
  return swapmeet::heap::take(static_cast<std::size_t>(bytes), 1, false);
}

}  // namespace

#define SWAPMEET_ALLOCATES(name, Name)                              \
  SWAPMEET_NAMED(name, (MPI_Aint bytes, Handle info, void* base)) { \
    void* const block = block_of(bytes, info, base);                \
    if (!block) return swapmeet::pass_on(#name, bytes, info, base); \
    *static_cast<void**>(base) = block;                             \
    return MPI_SUCCESS;                                             \
  }

#define SWAPMEET_FREES_MEMORY(name, Name)                                              \
  SWAPMEET_NAMED(name, (void* base)) {                                                 \
    if (swapmeet::heap::holds(base) && swapmeet::heap::give(base)) return MPI_SUCCESS; \
    return swapmeet::pass_on(#name, base);                                             \
  }

SWAPMEET_ENTRIES(SWAPMEET_ALLOCATES, Alloc_mem)
SWAPMEET_ENTRIES(SWAPMEET_FREES_MEMORY, Free_mem)
