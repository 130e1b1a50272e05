/// The arguments of a call of an all-to-all, in the form in which the call passes through the library.
#pragma once

#include <cstdint>
#include <span>

#include "buffers/blocks.hpp"
#include "schedule/collective.hpp"
#include "schedule/schedule.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// The arguments of a call, in which no mistake was found. They refer to the application's arrays and to the datatypes,
/// or to the copies that a KeptCall has made of them.
struct Arguments {
  Collective collective;
  bool in_place;
  Blocks send, receive;                          ///< the same blocks if the call is in place
  Degrees blocks;                                ///< number of blocks on each side
  const Neighbourhood* neighbourhood = nullptr;  ///< virtual topology of a neighbourhood collective; nullptr for others

  /// Number of blocks in the buffer that this rank sends from.
  Rank sent_blocks() const { return in_place ? blocks.in : blocks.out; }

  /// The peer of each block of a side, as Staging::take() takes it. Empty if block i belongs to rank i.
  std::span<const Rank> to() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->to) : std::span<const Rank>();
  }
  std::span<const Rank> from() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->from) : std::span<const Rank>();
  }

  /// Size of each block, in bytes; 0 for blocks of unequal size.
  std::int64_t block_bytes() const { return of_unequal_blocks(collective) ? 0 : receive.bytes(0); }
  /// Number of bytes that this rank sends.
  std::uint64_t sent_bytes() const;
  bool are_empty() const { return is_empty(collective, send, receive); }
};

/// How a call goes on when its arguments are known. The application waits in it (`now`), or the call has returned to the
/// application (`started`), and the rest must not wait.
enum class Begun : std::uint8_t { now, started };

}  // namespace swapmeet
