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

/// Blocks that node peers cannot map, and their sizes.
class PrivateBlocks {
 public:
  /// Returns nullptr if there is no memory.
  void* take(std::size_t bytes) {
    void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return nullptr;
    const std::lock_guard lock(mutex_);
    sizes_.emplace(block, bytes);
    return block;
  }

  /// Returns false if it is no such block.
  bool give(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(block);
    if (found == sizes_.end()) return false;
    munmap(block, found->second);
    sizes_.erase(found);
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::size_t> sizes_;
};

/// Never destroyed, because a program may free memory while it exits.
PrivateBlocks& private_blocks() {
  static auto* const all = new PrivateBlocks;
  return *all;
}

/// Returns a block of `bytes` bytes, all zero, on whole pages; nullptr if there is no memory.
void* new_block(std::size_t bytes) {
  Context& all = context();
  if (!simulated && all.world_ranks > 1) {
    all.regions.add(heap::functions);
    if (void* const block = heap::take(bytes, 1, true)) return all.regions.count(1), block;
    const char* const why = heap::problem();
    warn_once(std::string("swapmeet_memory_allocate: ") + (why ? why : "the machine has not that much memory") +
              "; the memory is not shared");
  }
  return private_blocks().take(bytes);
}

/// Frees a block. Returns false if it is none.
bool free_block(void* block) {
  if (!heap::holds(block)) return private_blocks().give(block);
  if (!heap::give(block)) return false;
  context().regions.count(-1);
  return true;
}

}  // namespace

}  // namespace swapmeet

SWAPMEET_EXPORT int swapmeet_memory_allocate(MPI_Comm comm, MPI_Aint bytes, void* base) {
  return swapmeet::guarded_call([&]() -> int {
    swapmeet::Communicator* const communicator = swapmeet::known(comm);
    if (!communicator) return swapmeet::no_communicator();
    if (communicator->members().inter) return swapmeet::failed(MPI_ERR_COMM);
    if (bytes < 0 || !base)
      return swapmeet::failed(MPI_ERR_ARG,
                              base ? "the number of bytes is negative" : "the address for the base is NULL");
    void* const block = swapmeet::new_block(static_cast<std::size_t>(std::max<MPI_Aint>(bytes, 1)));
    if (!block) return swapmeet::failed(MPI_ERR_NO_MEM);
    *static_cast<void**>(base) = block;
    return MPI_SUCCESS;
  });
}

SWAPMEET_EXPORT int swapmeet_memory_free(void* base) {
  return swapmeet::guarded_call([&]() -> int {
    if (!base || swapmeet::free_block(base)) return MPI_SUCCESS;
    return swapmeet::failed(MPI_ERR_ARG, "not an address that swapmeet_memory_allocate gave, or freed already");
  });
}
