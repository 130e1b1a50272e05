/// Regions are memory of the application that other ranks of the node copy directly, without the kernel: the heaps of
/// processes (src/heap), whose blocks swapmeet_memory_allocate(), MPI_Alloc_mem and malloc give. A process maps the heap
/// of another one, at an address of its own, when the first block in it is announced.
#pragma once

#include <array>
#include <atomic>
#include <shared_mutex>
#include <vector>

#include "heap/place.hpp"
#include "node/segment.hpp"
#include "node/single_copy.hpp"

namespace swapmeet {

/// The heaps of this process, and those of node peers that it has mapped. Any thread may call any function.
class Regions {
 public:
  /// Adds a heap of this process, whose blocks others can then copy. At most two can be added. Does nothing if the heap
  /// was added before.
  void add(const heap::Functions& functions);

  /// Adds to the number of blocks that the program has allocated in order to exchange them; any(): whether there are
  /// some. Most programs have none.
  void count(std::int64_t blocks) { count_.fetch_add(blocks, std::memory_order_relaxed); }
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }

  /// The place of the heap in which all pieces lie; no place if there is none.
  heap::Place find(std::span<const Piece> pieces) const;

  /// Copies `from`, in the heap at `place`, to `to`: as many bytes as both have. Returns false, without copying
  /// anything, if this process cannot map the heap or the heap does not contain all of `from`.
  bool copy(const heap::Place& place, const RemoteData& from, std::span<const Piece> to);

 private:
  const Segment* known(const SegmentName& name) const;
  void map(const SegmentName& name);

  std::atomic<std::int64_t> count_{0};
  std::array<std::atomic<const heap::Functions*>, 2> own_{};
  mutable std::shared_mutex mutex_;
  std::vector<Segment> others_;  ///< heaps of other processes; one without memory cannot be mapped
};

}  // namespace swapmeet
