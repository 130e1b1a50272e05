/// Shared memory that this process has made for others to map, and that of others which it has mapped. Each is made and
/// mapped once: a further communicator of the same ranks takes a part of what is there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "node/segment.hpp"

namespace swapmeet {

/// A part of the arena of one process, for the ranks of a node. Can be sent as it is.
struct ArenaPart {
  SegmentName arena{};
  std::uint64_t arena_bytes = 0;
  std::uint64_t first = 0, bytes = 0;  ///< whole pages; no bytes: there is none
  std::uint64_t number = 0;  ///< of this part: what is given back may have been taken again, by another thread
};

/// What a part begins with: the rest is for who has it.
struct alignas(64) PartHeader {
  std::atomic<std::int32_t> abandoned;  ///< a Broken
  std::atomic<std::uint32_t> closed;    ///< ranks that need the part no more
};

/// Any thread.
class Arenas {
 public:
  /// Makes the arena of this process: parts of `most_bytes` can be had, several at a time. Takes no memory yet. Local.
  /// Where it cannot be made, there are no parts.
  void make(std::size_t most_bytes);

  /// Takes a part of the own arena, as large as may be of use. What it holds was left there by other communicators.
  ArenaPart take();

  /// So many bytes of it are used, until as many ranks as `members` have counted themselves in PartHeader::closed, which begins
  /// at 0.
  void keep(const ArenaPart& part, std::size_t bytes, std::uint32_t members);
  /// No rank uses it. Nothing if it was given back, or left by all its members.
  void give_back(const ArenaPart& part);

  /// Where a part is, of whatever process; nullptr: it cannot be mapped, and `problem` says why. For as long as this.
  char* map(const ArenaPart& part, std::string& problem);

  /// Segment::reserve() of bytes of a part that was mapped, where the kernel counts what it has promised. Elsewhere it
  /// makes pages when they are first touched, and to ask before is of no use.
  std::string reserve(const ArenaPart& part, std::size_t first, std::size_t bytes);

 private:
  struct Taken {
    std::uint64_t first, bytes, number;
    std::uint32_t members;  ///< 0: it is not known yet
  };

  void release(const Taken& part);
  void reclaim();
  Segment* find(const SegmentName& name);

  std::mutex mutex_;
  Segment own_;
  std::size_t most_bytes_ = 0;
  std::uint64_t parts_ = 0;   ///< that were taken
  bool counted_ = false;      ///< what the kernel has promised
  std::vector<Taken> taken_;  ///< of the own arena, by their places
  std::vector<Segment> others_;
};

}  // namespace swapmeet
