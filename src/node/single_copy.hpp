/// One copy between two processes: the receiver reads the memory of the sender.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace swapmeet {

/// Bytes in memory of this process.
struct Piece {
  char* address;
  std::size_t bytes;
};

/// Bytes in memory of another process.
struct RemotePiece {
  std::uint64_t address;
  std::uint64_t bytes;
};

/// Reads `from`, in memory of process `process`, into `to`, one piece after the other; as many bytes as both have.
/// False: the kernel refused, and some of it may have been read.
bool read_from(pid_t process, std::span<const RemotePiece> from, std::span<const Piece> to);

}  // namespace swapmeet
