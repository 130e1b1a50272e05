/// A hop is one message of a forwarding exchange. It contains the messages that are forwarded together, one behind the
/// other, each with a header. It contains nothing for pairs of ranks without a message.
///
///   hop     = { destination source size [bytes] } | failed
///
/// All numbers are varints. `size` is four times the number of bytes, plus 1 if the bytes are sent separately from
/// source to destination, plus 2 if they are lost. `failed` is a single byte, which no valid hop is: all data that the
/// sender had are lost.
#pragma once

#include <cstring>

#include "schedule/schedule.hpp"
#include "schedule/varint.hpp"

namespace swapmeet {

/// A message that is being forwarded.
struct HopItem {
  Rank destination = 0, source = 0;
  std::int64_t bytes = 0;
  /// The location of its bytes.
  enum class Body : std::uint8_t {
    here,
    apart,  ///< sent separately to the destination
    lost,   ///< a rank had no memory for them
  } body = Body::here;
  const char* data = nullptr;  ///< nullptr: a message of this rank itself, or the bytes are not here

  std::uint64_t size_word() const { return static_cast<std::uint64_t>(bytes) * 4 + static_cast<std::uint64_t>(body); }
  std::int64_t header_bytes() const {
    return varint_bytes(static_cast<std::uint32_t>(destination)) + varint_bytes(static_cast<std::uint32_t>(source)) +
           varint_bytes(size_word());
  }
  std::int64_t body_bytes() const { return body == Body::here ? bytes : 0; }

  char* write_header(char* to) const {
    to = write_varint(to, static_cast<std::uint32_t>(destination));
    to = write_varint(to, static_cast<std::uint32_t>(source));
    return write_varint(to, size_word());
  }
  /// Reads a header, and moves `from` behind the message.
  static HopItem read(const char*& from) {
    HopItem item;
    item.destination = static_cast<Rank>(read_varint(from));
    item.source = static_cast<Rank>(read_varint(from));
    const std::uint64_t word = read_varint(from);
    item.bytes = static_cast<std::int64_t>(word / 4);
    item.body = static_cast<Body>(word % 4);
    if (item.body == Body::here) item.data = from, from += item.bytes;
    return item;
  }
};

/// The content of a hop that is `failed`.
inline constexpr char failed_hop[1] = {};

inline bool hop_failed(std::int64_t bytes) { return bytes == sizeof failed_hop; }

}  // namespace swapmeet
