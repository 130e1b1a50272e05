/// Tags of our messages: what a message is, the call that it belongs to, and its number among those from one rank to
/// another that are under way together. So no message is taken for another, nor for one of another call.
#pragma once

#include <cstdint>

namespace swapmeet {

/// What a message is. (0 is of no message: Neighbours.)
enum class Kind : std::uint8_t {
  last = 1,  ///< blocks that end at their receiver, or all of equal size
  passed_on,
  head,        ///< what its receiver must know of a message that follows
  direct,      ///< a block that is sent directly while others are passed on
  sparse,      ///< a message of a sparse exchange, whose calls are counted apart
  sparse_hop,  ///< what is passed on in one
  agreement,   ///< what ranks agree on before an exchange
  grant,       ///< empty: the receive of a message is posted, and its sender may send it
};

class Tags {
 public:
  /// `most`: the largest tag that the MPI allows, 32767 or more.
  explicit Tags(int most) : numbers_(most >> shift) {}

  int of(Kind kind, std::uint16_t call, std::uint32_t number = 0) const {
    return static_cast<int>(kind) | (call & (calls - 1)) << kind_bits |
           static_cast<int>(number < most_numbers() ? number : number % most_numbers()) << shift;
  }

  /// As many messages from one rank to another may be under way together.
  std::int64_t most_together() const { return numbers_; }

 private:
  std::uint32_t most_numbers() const { return static_cast<std::uint32_t>(numbers_); }

  static constexpr int kind_bits = 4, call_bits = 5, shift = kind_bits + call_bits, calls = 1 << call_bits;
  int numbers_;
};

}  // namespace swapmeet
