/// A segment is memory that the processes of a node share. One process makes it, and the others find it by its name. If
/// possible, it is an anonymous file (memfd_create), which can be found only while its maker has it open. Otherwise it
/// is a file in /dev/shm, which is removed as soon as all ranks have mapped it; a process that is killed before leaves
/// the file behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heap/shared_file.hpp"

namespace swapmeet {

using SegmentName = heap::FileName;

class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept { swap(other); }
  Segment& operator=(Segment&& other) noexcept { return swap(other), *this; }
  ~Segment();

  /// The place in which other processes find the segment.
  enum class Naming : std::uint8_t {
    of_process,  ///< /proc; requires permission to inspect the maker, while that has the file open
    of_system,   ///< /dev/shm, until unlink()
  };

  /// Makes a segment of `bytes` bytes, all zero, with a unique name(). Takes no memory yet. Returns "", or the problem.
  std::string make(std::size_t bytes, Naming naming);

  /// Maps a segment that another process made. Returns "", or the problem: it does not exist, or has another size.
  std::string open(const SegmentName& name, std::size_t bytes);

  /// Maps the anonymous file of another process for reading, whatever its size. Returns "", or the problem.
  std::string open_to_read(const SegmentName& name);

  /// A placeholder for a segment that cannot be mapped. It has a name, but no memory.
  static Segment missing(const SegmentName& name);

  /// Whether the maker still has the file by which the segment is found.
  bool is_kept() const;

  /// Reserves memory for [first, first + bytes) on the NUMA node of this process. Otherwise an access to a page that
  /// the system cannot provide would kill the process. Returns "", or the problem.
  std::string reserve(std::size_t first, std::size_t bytes);

  /// Gives the memory of the whole pages within [first, first + bytes) back to the system. Their content becomes 0.
  void release(std::size_t first, std::size_t bytes);

  /// Closes the file. The memory stays mapped, but no more of it can be reserved.
  void close_file() { file_.close(); }

  /// Removes the name. The memory exists until no process maps it any more. Does nothing if called again.
  void unlink();

  const SegmentName& name() const { return name_; }
  char* memory() const { return memory_; }
  std::size_t bytes() const { return bytes_; }

 private:
  bool create(Naming naming);
  std::string map(std::size_t bytes);

  void swap(Segment& other) noexcept;

  SegmentName name_;
  bool named_ = false;  ///< whether this process has made the name and not removed it
  heap::SharedFile file_;
  char* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace swapmeet
