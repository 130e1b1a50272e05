/// Shared memory that this process has made for its node peers to map, and that of node peers which it has mapped. Each
/// arena is made and mapped once; a further communicator of the same ranks takes another part of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "heap/overcommit.hpp"
#include "node/segment.hpp"

namespace swapmeet {

/// The unit in which arenas are divided.
inline constexpr std::size_t arena_page_bytes = 4096;

/// A part of the arena of one process, for the ranks of a node on one communicator. Can be sent as bytes.
struct ArenaPart {
  SegmentName arena{};
  std::uint64_t arena_bytes = 0;
  std::uint64_t first = 0, bytes = 0;  ///< in whole pages; 0 bytes: there is no part
  /// identifies this use of the part: after give_back(), another thread may take the same bytes
  std::uint64_t number = 0;
};

/// The beginning of each part. The rest of the part belongs to the communicator that uses it.
struct alignas(64) PartHeader {
  std::atomic<std::int32_t> abandoned;  ///< a value of Broken
  std::atomic<std::uint32_t> closed;    ///< number of ranks that do not need the part any more
};

/// The arenas that this process has made or mapped. Any thread may call any function.
class Arenas {
 public:
  /// Makes the arena of this process. Several parts of up to `most_bytes` bytes can be taken at a time. Takes no memory
  /// yet. Local. If the arena cannot be made, take() returns no parts. `counted`: whether the kernel counts the memory
  /// that it has promised.
  void make(std::size_t most_bytes, bool counted = heap::kernel_counts_promises());

  /// Takes a part of the arena of this process, of the largest useful size. Other communicators may have left data in
  /// it.
  ArenaPart take();

  /// Records that the first `bytes` bytes of the part are in use until `members` ranks have incremented
  /// PartHeader::closed, which this function sets to 0. Returns "", or the problem: there is no memory for the header.
  std::string keep(const ArenaPart& part, std::size_t bytes, std::uint32_t members);
  /// Frees a part that no rank uses. Does nothing if it was given back before, or was closed by all its members.
  void give_back(const ArenaPart& part);

  /// Maps a part of the arena of any process, for the lifetime of this object. Returns nullptr if that fails, and the
  /// reason in `problem`.
  char* map(const ArenaPart& part, std::string& problem);

  /// Reserves bytes of a mapped part (Segment::reserve()) if the kernel counts the memory that it has promised (make()).
  /// Otherwise does nothing: the kernel then allocates pages on the first access, and reserving them first is useless.
  std::string reserve(const ArenaPart& part, std::size_t first, std::size_t bytes);

 private:
  struct Taken {
    std::uint64_t first, bytes, number;
    std::uint32_t members;  ///< number of ranks that use the part; 0: not known yet
  };

  void release(const Taken& part);
  void reclaim();
  Segment* find(const SegmentName& name);

  std::mutex mutex_;
  Segment own_;
  std::size_t most_bytes_ = 0;
  std::uint64_t parts_ = 0;  ///< number of parts taken so far
  bool counted_ = false;
  std::vector<Taken> taken_;  ///< parts of the arena of this process, by position
  std::vector<Segment> others_;
};

}  // namespace swapmeet
