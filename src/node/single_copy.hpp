/// One copy between two processes: the receiver reads the memory of the sender.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "typemap/copy.hpp"

namespace swapmeet {

/// Bytes in memory of this process: side by side, or the data of elements of a datatype.
struct Piece {
  char* address;
  std::size_t bytes;
  const TypeMapView* map = nullptr;
  bool streams = false;  ///< as of Elements

  Elements elements() const { return {address, map, streams}; }

  /// Some of them, from byte `begin` on.
  void read(std::size_t begin, std::size_t some, char* to) const {
    copy_out(elements(), static_cast<std::int64_t>(begin), static_cast<std::int64_t>(some), to);
  }
  void write(std::size_t begin, std::size_t some, const char* from) const {
    copy_in(elements(), static_cast<std::int64_t>(begin), static_cast<std::int64_t>(some), from);
  }
};

/// Bytes in memory of another process.
struct RemotePiece {
  std::uint64_t address;
  std::uint64_t bytes;
};

/// What lies there: pieces side by side, or one, of elements.
struct RemoteData {
  std::span<const RemotePiece> pieces;
  const TypeMapView* map = nullptr;
};

/// Reads `from`, in memory of process `process`, into `to`, of which nothing has a map, one piece after the other; as many bytes
/// as both have. False: the kernel refused, and some of it may have been read.
bool read_from(pid_t process, std::span<const RemotePiece> from, std::span<const Piece> to);

}  // namespace swapmeet
