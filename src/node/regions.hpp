/// Shared memory that the application has from us: what lies in it is copied by the ranks of the node straight, without
/// the kernel. Every process that shares it maps it, each at its own address: a region that ranks have made together, all
/// from the beginning; the heap of one process (src/heap), the others when the first block in it is offered to them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "heap/place.hpp"
#include "node/segment.hpp"
#include "node/single_copy.hpp"

namespace swapmeet {

/// Where bytes are in a region, for those that map it elsewhere.
struct RegionPlace {
  std::uint64_t id = 0;                 ///< of the region; 0: in none
  std::uint64_t base = 0;               ///< where the process that says so maps it
  std::int32_t process = 0, file = -1;  ///< of a heap: how others find it
};

/// The regions that this process maps. Any thread.
class Regions {
 public:
  /// Adds a region, known by `id` (not 0) to all that share it; `own` is the address of this process's part of it.
  void add(std::uint64_t id, Segment segment, char* own);

  /// Forgets the region of which this is the own part, and gives its memory back. False: there is none.
  bool remove(const void* own);

  bool any() const { return count_ > 0; }

  /// Blocks of this heap can be copied by others. To be called before anything is exchanged; at most twice.
  void add(const heap::Functions& functions);

  /// The region that all pieces lie in.
  RegionPlace find(std::span<const Piece> pieces) const;

  /// Copies `from`, which lies as `place` says, to `to`; as many bytes as both have. False: this process cannot map that
  /// region, or it does not hold all of `from`; nothing is copied then.
  bool copy(const RegionPlace& place, const RemoteData& from, std::span<const Piece> to);

 private:
  struct Region {
    std::uint64_t id;
    Segment segment;
    const char* own;
    std::uint64_t base() const { return reinterpret_cast<std::uintptr_t>(segment.memory()); }
  };

  RegionPlace find_in_heaps(std::span<const Piece> pieces) const;
  const Segment* known(std::uint64_t id) const;
  void map(const RegionPlace& place);

  std::atomic<std::size_t> count_{0};  ///< of regions; most programs have none, and are not to pay for a lock
  mutable std::shared_mutex mutex_;
  std::vector<Region> regions_;
  std::vector<Segment> heaps_;  ///< of other processes; without memory: it cannot be mapped
  std::array<const heap::Functions*, 2> own_heaps_{};
};

}  // namespace swapmeet
