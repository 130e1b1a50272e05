/// The functions swapmeet_memory_allocate() and swapmeet_memory_free(). The memory is a block of the heap, which node
/// peers map when the block is first announced to them. Where there is no heap it is memory of this process alone.
#include <swapmeet/swapmeet.h>

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "api/export.hpp"
#include "api/failure.hpp"
#include "heap/heap.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

namespace {

/// The blocks that the program has, and the sizes of those that node peers cannot map; 0: a block of the heap.
class AllocatedBlocks {
 public:
  /// Returns a block of `bytes` bytes, all zero, on whole pages; nullptr if there is no memory.
  void* take(std::size_t bytes) {
    Context& all = context();
    if (!simulated && all.world_ranks > 1) {
      all.regions.add(heap::functions);
      if (void* const block = heap::take(bytes, 1, true)) return all.regions.count(1), keep(block, 0);
      const char* const why = heap::problem();
      warn_once(std::string("swapmeet_memory_allocate: ") + (why ? why : "the machine has not that much memory") +
                "; the memory is not shared");
    }
    void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? nullptr : keep(block, bytes);
  }

  /// Frees a block. Returns false if it is none.
  bool give(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(block);
    if (found == sizes_.end()) return false;
    if (found->second > 0) munmap(block, found->second);
    else if (heap::give(block)) context().regions.count(-1);
    sizes_.erase(found);
    return true;
  }

 private:
  void* keep(void* block, std::size_t private_bytes) {
    const std::lock_guard lock(mutex_);
    sizes_.insert_or_assign(block, private_bytes);
    return block;
  }

  std::mutex mutex_;
  std::map<void*, std::size_t> sizes_;
};

/// Never destroyed, because a program may free memory while it exits.
AllocatedBlocks& allocated_blocks() {
  static auto* const all = new AllocatedBlocks;
  return *all;
}

}  // namespace

}  // namespace swapmeet

SWAPMEET_EXPORT int swapmeet_memory_allocate(MPI_Comm comm, MPI_Aint bytes, void* base) {
  return swapmeet::call_on(comm, [&](swapmeet::Communicator& communicator) -> int {
    if (communicator.members().inter) return swapmeet::failed(MPI_ERR_COMM);
    if (bytes < 0 || !base)
      return swapmeet::failed(MPI_ERR_ARG,
                              base ? "the number of bytes is negative" : "the address for the base is NULL");
    void* const block = swapmeet::allocated_blocks().take(static_cast<std::size_t>(std::max<MPI_Aint>(bytes, 1)));
    if (!block) return swapmeet::failed(MPI_ERR_NO_MEM);
    *static_cast<void**>(base) = block;
    return MPI_SUCCESS;
  });
}

SWAPMEET_EXPORT int swapmeet_memory_free(void* base) {
  return swapmeet::guarded_call([&]() -> int {
    if (!base || swapmeet::allocated_blocks().give(base)) return MPI_SUCCESS;
    return swapmeet::failed(MPI_ERR_ARG, "not an address that swapmeet_memory_allocate gave, or freed already");
  });
}
