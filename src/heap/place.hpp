/// The place of a heap, for other processes; and the functions of a heap, for libraries that are not linked with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace swapmeet::heap {

/// The name by which other processes find a file of shared memory. Can be sent as bytes.
struct FileName {
  std::int32_t process = 0;  ///< process that made it, in its own PID namespace
  std::int32_t file = -1;    ///< file descriptor in that process; -1: the file is in /dev/shm
  std::uint64_t random = 0;  ///< unique; 0: there is no file

  bool operator==(const FileName&) const = default;
};

/// The way in which an address of one process becomes a place that another process can read: the file to map, and the
/// address at which the first process maps it. Can be sent as bytes.
struct Place {
  FileName file{};
  std::uint64_t base = 0;
};

/// The functions that the library with a heap provides to other libraries of the process. Any thread may call them.
struct Functions {
  /// Sets `place` to that of the heap that contains `address`, and `bytes` to the size of the heap. Returns false if the
  /// address is in no heap, or if other processes cannot map the heap (any more).
  bool (*find)(const void* address, Place& place, std::uint64_t& bytes);
  /// The reason why no blocks come from the heap; nullptr: large ones do.
  const char* (*problem)();
};

/// Name under which libswapmeet-heap.so exports a function of type `const Functions* ()`.
inline constexpr const char* functions_name = "swapmeet_heap_functions";

}  // namespace swapmeet::heap
