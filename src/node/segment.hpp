/// Memory that the processes of a node share, made by one of them and found by the others by its name. At best it has a
/// name only while its maker has it open; else one in /dev/shm, which is taken away as soon as all have it: then a
/// process that is killed before leaves the name behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace swapmeet {

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

  /// Makes a segment of `bytes` bytes, all zero, in name() as no other is called. "", or what went wrong.
  std::string make(std::size_t bytes, Naming naming);

  /// Memory of this process alone, in the same shape. "", or what went wrong.
  std::string make_private(std::size_t bytes);

  /// Maps the segment that another process made. "", or what went wrong: it is not there, or not of this size.
  std::string open(const std::string& name, std::size_t bytes);

  /// Reserves memory for [first, first + bytes), on this process's NUMA node: without it, a page that cannot be had
  /// would kill the process that touches it. "", or what went wrong.
  std::string reserve(std::size_t first, std::size_t bytes);

  /// The memory stays; there is no more to reserve.
  void close_file();

  /// Takes the name away; the memory stays until nobody maps it. Does nothing the second time.
  void unlink();

  const std::string& name() const { return name_; }
  std::uint64_t id() const;  ///< of it, for all that have it; random, and not 0
  char* memory() const { return memory_; }
  std::size_t bytes() const { return bytes_; }

 private:
  bool create(Naming naming);
  std::string map(std::size_t bytes, int flags);
  void swap(Segment& other) noexcept;

  std::string name_;
  bool named_ = false;  ///< by us, and still
  int file_ = -1;
  char* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace swapmeet
