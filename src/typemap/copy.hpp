/// Copies of data between elements of datatypes and contiguous bytes, and between elements of two datatypes. Each copy
/// may begin at any byte of the data.
#pragma once

#include <cstring>

#include "typemap/type_map.hpp"

namespace swapmeet {

/// Elements of a datatype in memory of this process.
struct Elements {
  char* address;
  const TypeMapView* map = nullptr;  ///< nullptr: contiguous bytes
  bool streams = false;              ///< write past the caches (streaming stores), because the data would exceed them
};

/// gather() copies bytes [begin, begin + bytes) of the data of `from` to `to`. scatter() is the reverse.
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

/// Copies `bytes` bytes of the data of `from`, from byte `from_begin` on, to the data of `to`, from byte `to_begin` on.
void copy_elements(const Elements& from, std::int64_t from_begin, const Elements& to, std::int64_t to_begin,
                   std::int64_t bytes);

/// Whether received data should be streamed past the caches, if `bytes` is the amount that is exchanged at a time on
/// this host.
bool exceeds_caches(std::int64_t bytes);

}  // namespace swapmeet
