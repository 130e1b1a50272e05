/// Regions are shared memory that the application has allocated through the library. Ranks of the node copy data in a
/// region directly, without the kernel. Every process that shares a region maps it, each at its own address. A region
/// that ranks have made together is mapped by all of them from the beginning. The heap of a process (src/heap) is
/// mapped by another process when the first block in it is announced to that.
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

/// The position of data in a region, for processes that map the region at another address.
struct RegionPlace {
  std::uint64_t id = 0;                 ///< identifies the region; 0: the data are in no region
  std::uint64_t base = 0;               ///< address at which the announcing process maps the region
  std::int32_t process = 0, file = -1;  ///< of a heap: the file in which other processes find it
};

/// The regions that this process maps. Any thread may call any function.
class Regions {
 public:
  /// Adds a region. `id` identifies it in all processes that share it; 0: private memory, for which find() returns 0 as
  /// for memory in no region. `own` is the address of this process's part.
  void add(std::uint64_t id, Segment segment, char* own);

  /// Removes the region whose part of this process is `own`, and frees its memory. Returns false if there is none.
  bool remove(const void* own);

  bool any() const { return count_ > 0; }

  /// Adds a heap of this process, whose blocks others can then copy. Must be called before anything is exchanged, and
  /// at most twice.
  void add(const heap::Functions& functions);

  /// The region in which all pieces lie; id 0 if there is none.
  RegionPlace find(std::span<const Piece> pieces) const;

  /// Copies `from`, at the position `place`, to `to`: as many bytes as both have. Returns false, without copying
  /// anything, if this process cannot map the region or the region does not contain all of `from`.
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

  std::atomic<std::size_t> count_{0};  ///< number of regions; most programs have none, and need no lock then
  mutable std::shared_mutex mutex_;
  std::vector<Region> regions_;
  std::vector<Segment> heaps_;  ///< heaps of other processes; one without memory cannot be mapped
  std::array<const heap::Functions*, 2> own_heaps_{};
};

}  // namespace swapmeet
