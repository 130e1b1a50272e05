/// Copies between elements of datatypes and bytes that lie side by side, and from elements of one type to those of another;
/// from any byte of their data on.
#pragma once

#include <cstring>

#include "typemap/type_map.hpp"

namespace swapmeet {

/// Bytes [begin, begin + bytes) of the data of elements at `elements`, to `to`.
void gather(const TypeMapView& map, const char* elements, std::int64_t begin, std::int64_t bytes, char* to);

/// The reverse.
void scatter(const TypeMapView& map, char* elements, std::int64_t begin, std::int64_t bytes, const char* from);

/// Elements in memory of this process.
struct Elements {
  char* address;
  const TypeMapView* map = nullptr;  ///< nullptr: bytes that lie side by side
};

/// Bytes [begin, begin + bytes) of the data of `from`, to `to`; and the reverse.
inline void copy_out(const Elements& from, std::int64_t begin, std::int64_t bytes, char* to) {
  if (from.map) gather(*from.map, from.address, begin, bytes, to);
  else std::memcpy(to, from.address + begin, static_cast<std::size_t>(bytes));
}
inline void copy_in(const Elements& to, std::int64_t begin, std::int64_t bytes, const char* from) {
  if (to.map) scatter(*to.map, to.address, begin, bytes, from);
  else std::memcpy(to.address + begin, from, static_cast<std::size_t>(bytes));
}

/// `bytes` bytes of the data of `from`, from `from_begin` on, to those of `to` from `to_begin` on.
void copy_elements(const Elements& from, std::int64_t from_begin, const Elements& to, std::int64_t to_begin,
                   std::int64_t bytes);

}  // namespace swapmeet
