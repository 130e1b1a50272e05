/// Tags of the library's messages. All messages are sent on one communicator, that of the job, so the tag must
/// distinguish them. It holds the number that the receiver has given to its team (team.hpp), the number of the message
/// among those in flight from one rank to another, the call that the message belongs to, and the kind of the message.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace swapmeet {

/// The kind of a message. (NodePeers uses 0, which is the kind of no message.)
enum class MessageKind : std::uint8_t {
  last = 1,    ///< blocks whose destination is the receiver, or any blocks if all are of equal size
  passed_on,   ///< blocks that the receiver forwards
  head,        ///< header of a message that follows, for its receiver
  direct,      ///< a block that is sent directly while others are forwarded
  sparse,      ///< a message of a sparse exchange; these calls have a count of their own
  sparse_hop,  ///< a message that is forwarded in a sparse exchange
  agreement,   ///< a message by which ranks agree before an exchange
  grant,       ///< an empty message: the receive of a message is posted, and its sender may send it
  probe,       ///< a message by which the network is measured
  trace,       ///< a part of a trace, for rank 0
};

class Tags {
 public:
  /// `most` is the largest tag that the MPI allows, at least 32767. The bits of a tag that are not used for call and
  /// kind are divided between the numbers of messages and the numbers of teams.
  explicit Tags(int most)
      : number_bits_(std::clamp((bits_of(most) - shift) / 2, 3, 9)), team_bits_(bits_of(most) - shift - number_bits_) {}

  /// The tag of a message, without the number of the receiver's team.
  int of(MessageKind kind, std::uint16_t call, std::uint32_t number = 0) const {
    return static_cast<int>(kind) | (call & (calls - 1)) << kind_bits |
           static_cast<int>(number & ((1U << number_bits_) - 1)) << shift;
  }

  /// The number of consecutive calls that tags distinguish.
  static constexpr int calls = 32;

  /// The largest number of messages that may be in flight from one rank to another.
  std::int64_t most_together() const { return std::int64_t{1} << number_bits_; }

  /// The largest number of teams at a time; their numbers begin at 0.
  int teams() const { return 1 << team_bits_; }
  /// The summand by which the number of a team enters a tag.
  int of_team(int number) const { return number << (shift + number_bits_); }

 private:
  /// The number of bits such that every number of so many bits is a valid tag.
  static constexpr int bits_of(int most) { return std::bit_width(static_cast<unsigned>(most) + 1) - 1; }

  static constexpr int kind_bits = 4, call_bits = 5, shift = kind_bits + call_bits;
  static_assert(calls == 1 << call_bits);
  int number_bits_, team_bits_;
};

}  // namespace swapmeet
