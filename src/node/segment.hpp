/// Memory that the processes of a node share, made by one of them and found by the others by its name. At best it is a
/// file of its maker's alone (memfd_create), which has a name only while its maker has it open; else one in /dev/shm,
/// which is taken away as soon as all have it: then a process that is killed before leaves the name behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace swapmeet {

/// How others find a segment. Can be sent as it is.
struct SegmentName {
  std::int32_t process = 0;  ///< its maker, as that sees itself
  std::int32_t file = -1;    ///< of that process; -1: it is in /dev/shm
  std::uint64_t random = 0;  ///< not 0: no other has it

  bool operator==(const SegmentName&) const = default;
};

class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept { swap(other); }
  Segment& operator=(Segment&& other) noexcept { return swap(other), *this; }
  ~Segment();

  /// How others find it.
  enum class Naming : std::uint8_t {
    of_process,  ///< through /proc, which takes the right to look into its maker; for as long as that has its file open
    of_system,   ///< in /dev/shm, until unlink()
  };

  /// Makes a segment of `bytes` bytes, all zero, with a name() of its own. Takes no memory yet. "", or what went wrong.
  std::string make(std::size_t bytes, Naming naming);

  /// Memory of this process alone, in the same shape. "", or what went wrong.
  std::string make_private(std::size_t bytes);

  /// Maps the segment that another process made. "", or what went wrong: it is not there, or not of this size.
  std::string open(const SegmentName& name, std::size_t bytes);

  /// Maps the file of another process alone, to read: whatever size it has. "", or what went wrong.
  std::string open_to_read(const SegmentName& name);

  /// What stands for a segment that cannot be mapped: it has a name, and no memory.
  static Segment missing(const SegmentName& name);

  /// Whether its maker still has the file by which it is found.
  bool is_kept() const;

  /// Reserves memory for [first, first + bytes), on this process's NUMA node: without it, a page that cannot be had
  /// would kill the process that touches it. "", or what went wrong.
  std::string reserve(std::size_t first, std::size_t bytes);

  /// Gives the memory of whole pages back to the system, which makes them 0.
  void release(std::size_t first, std::size_t bytes);

  /// The memory stays; there is no more to reserve.
  void close_file();

  /// Takes the name away; the memory stays until nobody maps it. Does nothing the second time.
  void unlink();

  const SegmentName& name() const { return name_; }
  char* memory() const { return memory_; }
  std::size_t bytes() const { return bytes_; }

 private:
  bool create(Naming naming);
  std::string map(std::size_t bytes, int flags);
  bool has_its_file() const;

  void swap(Segment& other) noexcept;

  SegmentName name_;
  bool named_ = false;  ///< by us, and still
  int file_ = -1;
  std::uint64_t inode_ = 0;  ///< of the file
  char* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace swapmeet
