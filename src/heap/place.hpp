/// Where a block of a heap lies, for other processes; and the functions of a heap, for who does not link it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace swapmeet::heap {

struct Place {
  std::uint64_t id = 0;    ///< of the file, random, not 0; part of its title
  std::uint64_t base = 0;  ///< where this process maps the file
  std::uint64_t bytes = 0;
  std::int32_t process = 0, file = -1;  ///< it is /proc/PROCESS/fd/FILE
};

/// The title of a file without a name, by which it is known to be what its maker made.
struct Title {
  Title(std::int32_t process, std::uint64_t random) {
    std::snprintf(text, sizeof text, "swapmeet-%d-%016llx", process, static_cast<unsigned long long>(random));
  }
  char text[64];
};

/// What the library of a heap offers to others of the process. Any thread.
struct Functions {
  /// Where the block lies that an address belongs to. False: in no heap, or others cannot map it (any more).
  bool (*find)(const void* address, Place& place);
  /// Why no block comes from it; nullptr: large ones do.
  const char* (*problem)();
};

/// Exported by libswapmeet-heap.so under this name, as `const Functions* ()`.
inline constexpr const char* functions_name = "swapmeet_heap";

}  // namespace swapmeet::heap
