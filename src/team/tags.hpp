/// Tags of the library's messages. All of them travel on one communicator, that of the job, so a tag holds what tells messages
/// apart: the number that the receiver has given to its team (team.hpp), the number of the message among those from one rank to
/// another that are under way together, the call that it belongs to, and what it is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace swapmeet {

/// What a message is. (0 is of no message: NodePeers.)
enum class Kind : std::uint8_t {
  last = 1,  ///< blocks that end at their receiver, or all of equal size
  passed_on,
  head,        ///< what its receiver must know of a message that follows
  direct,      ///< a block that is sent directly while others are passed on
  sparse,      ///< a message of a sparse exchange, whose calls are counted apart
  sparse_hop,  ///< what is passed on in one
  agreement,   ///< what ranks agree on before an exchange
  grant,       ///< empty: the receive of a message is posted, and its sender may send it
  probe,       ///< by which the network is measured
  trace,       ///< a part of a trace, for the first rank
};

class Tags {
 public:
  /// `most`: the largest tag that the MPI allows, 32767 or more. Its bits beyond those of call and kind are divided between
  /// the numbers of messages and the numbers of teams.
  explicit Tags(int most)
      : number_bits_(std::clamp((bits_of(most) - shift) / 2, 3, 9)), team_bits_(bits_of(most) - shift - number_bits_) {}

  int of(Kind kind, std::uint16_t call, std::uint32_t number = 0) const {
    return static_cast<int>(kind) | (call & (calls - 1)) << kind_bits |
           static_cast<int>(number & ((1U << number_bits_) - 1)) << shift;
  }

  /// As many messages from one rank to another may be under way together.
  std::int64_t most_together() const { return std::int64_t{1} << number_bits_; }

  /// As many teams can have numbers at a time, from 0 on; and what is added to a tag of the team with this number.
  int teams() const { return 1 << team_bits_; }
  int of_team(int number) const { return number << (shift + number_bits_); }

 private:
  /// Every number of so many bits is a tag.
  static constexpr int bits_of(int most) { return std::bit_width(static_cast<unsigned>(most) + 1) - 1; }

  static constexpr int kind_bits = 4, call_bits = 5, shift = kind_bits + call_bits, calls = 1 << call_bits;
  int number_bits_, team_bits_;
};

}  // namespace swapmeet
