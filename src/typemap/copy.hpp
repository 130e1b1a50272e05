/// Copies between elements of datatypes and bytes that lie side by side, and from elements of one type to those of another;
/// from any byte of their data on.
#pragma once

#include <cstring>

#include "typemap/type_map.hpp"

namespace swapmeet {

/// Elements in memory of this process.
struct Elements {
  char* address;
  const TypeMapView* map = nullptr;  ///< nullptr: bytes that lie side by side
  bool streams = false;              ///< what is written is not to pass through the caches, which it would exceed
};

/// Bytes [begin, begin + bytes) of the data of `from`, to `to`; and the reverse.
void gather(const Elements& from, std::int64_t begin, std::int64_t bytes, char* to);
void scatter(const Elements& to, std::int64_t begin, std::int64_t bytes, const char* from);

inline void copy_out(const Elements& from, std::int64_t begin, std::int64_t bytes, char* to) {
  if (from.map) gather(from, begin, bytes, to);
  else std::memcpy(to, from.address + begin, static_cast<std::size_t>(bytes));
}
inline void copy_in(const Elements& to, std::int64_t begin, std::int64_t bytes, const char* from) {
  if (to.map || to.streams) scatter(to, begin, bytes, from);
  else std::memcpy(to.address + begin, from, static_cast<std::size_t>(bytes));
}

/// `bytes` bytes of the data of `from`, from `from_begin` on, to those of `to` from `to_begin` on.
void copy_elements(const Elements& from, std::int64_t from_begin, const Elements& to, std::int64_t to_begin,
                   std::int64_t bytes);

/// Whether what is written should stream: of so many bytes, which are exchanged at a time on this host.
bool exceeds_caches(std::int64_t bytes);

}  // namespace swapmeet
