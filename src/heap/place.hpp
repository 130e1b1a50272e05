/// The position of a block of a heap, for other processes; and the functions of a heap, for libraries that are not
/// linked with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace swapmeet::heap {

struct Place {
  std::uint64_t id = 0;    ///< identifies the file: random, not 0; a part of its title (shared_file.hpp)
  std::uint64_t base = 0;  ///< address at which this process maps the file
  std::uint64_t bytes = 0;
  std::int32_t process = 0, file = -1;  ///< other processes find the file as /proc/PROCESS/fd/FILE
};

/// The functions that the library with a heap provides to other libraries of the process. Any thread may call them.
struct Functions {
  /// Sets `place` to the position of the block that contains `address`. Returns false if the address is in no heap, or
  /// if other processes cannot map the block (any more).
  bool (*find)(const void* address, Place& place);
  /// The reason why no blocks come from the heap; nullptr: large ones do.
  const char* (*problem)();
};

/// Name under which libswapmeet-heap.so exports a function of type `const Functions* ()`.
inline constexpr const char* functions_name = "swapmeet_heap";

}  // namespace swapmeet::heap
