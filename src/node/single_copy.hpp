/// A single copy between two processes: the receiver reads the memory of the sender.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "typemap/copy.hpp"

namespace swapmeet {

/// Data in memory of this process: contiguous bytes, or elements of a datatype.
struct Piece {
  char* address;
  std::size_t bytes;
  const TypeMapView* map = nullptr;
  bool streams = false;  ///< as in Elements

  Elements elements() const { return {address, map, streams}; }

  /// Copies `some` bytes of the data, from byte `begin` on: read() out of the piece, write() into it.
  void read(std::size_t begin, std::size_t some, char* to) const {
    copy_out(elements(), static_cast<std::int64_t>(begin), static_cast<std::int64_t>(some), to);
  }
  void write(std::size_t begin, std::size_t some, const char* from) const {
    copy_in(elements(), static_cast<std::int64_t>(begin), static_cast<std::int64_t>(some), from);
  }
};

/// Contiguous bytes in memory of another process.
struct RemotePiece {
  std::uint64_t address;
  std::uint64_t bytes;
};

/// Data in memory of another process: contiguous pieces, or one piece of elements.
struct RemoteData {
  std::span<const RemotePiece> pieces;
  const TypeMapView* map = nullptr;
};

/// Pairs the pieces of both sides, as many bytes as both have. Calls copy(source, read, target, written, bytes) for each
/// part that lies in one piece of either side: `bytes` bytes, from byte `read` of `source` and from byte `written` of
/// `target` on. Ends, and returns false, if copy() does.
template <class Copy>
bool for_parts(std::span<const RemotePiece> from, std::span<const Piece> to, Copy&& copy) {
  std::size_t source = 0, target = 0, read = 0, written = 0;  // indices of pieces, and bytes within them
  while (source < from.size() && target < to.size()) {
    const std::size_t bytes = std::min<std::size_t>(from[source].bytes - read, to[target].bytes - written);
    if (!copy(from[source], read, to[target], written, bytes)) return false;
    if ((read += bytes) == from[source].bytes) ++source, read = 0;
    if ((written += bytes) == to[target].bytes) ++target, written = 0;
  }
  return true;
}

/// Reads `from` in the memory of `process` into `to`, piece by piece: as many bytes as both have. No piece of `to` may
/// have a map. Returns false if the kernel refuses; a part may have been read then.
bool read_from(pid_t process, std::span<const RemotePiece> from, std::span<const Piece> to);

}  // namespace swapmeet
