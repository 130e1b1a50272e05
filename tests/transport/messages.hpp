/// Messages that both ends derive from their place in a plan: sizes, pieces and every byte. So nothing needs to be
/// told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "node/node.hpp"

/// What one run of the program does.
struct Settings {
  std::uint32_t members = 3;
  swapmeet::ChannelSize channel{4, 64};
  std::uint64_t seed = 1;
  std::uint32_t steps = 50;
  std::size_t most_bytes = 1 << 20;
  bool threads = false;                                                    ///< of one process, rather than processes
  std::uint32_t offered = 50;                                              ///< per cent of the messages
  enum class Readable { all, none, some, dead } readable = Readable::all;  ///< whose memory; dead: that of nobody
  std::uint32_t cut = 10;             ///< per cent of the messages that are longer than expected
  std::uint32_t first_number = 0;     ///< cells that went from member 0 to member 1 before
  std::uint32_t row_block_bytes = 0;  ///< the largest block of a row; 0: messages travel by channels
  std::uint32_t failing = 10;         ///< per cent of the members that have no data in a step by rows
};

/// Numbers without a state: a hash of where they are used.
std::uint64_t draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0);

/// One message of one step.
struct Message {
  std::uint64_t key = 0;
  std::size_t bytes = 0;     ///< that are sent
  std::size_t expected = 0;  ///< that the receiver has room for
  bool offered = false;
  bool of_any_size = false;  ///< the receiver learns the size when the message arrives

  unsigned char byte(std::size_t index) const {
    return static_cast<unsigned char>(key + index * 31 + (index >> 8) * 7 + (index >> 16));
  }
};

/// The messages from one member to another in a step; none, or several.
std::vector<Message> messages(const Settings& settings, std::uint32_t step, std::uint32_t from, std::uint32_t to);

/// Bytes in pieces anywhere, with guards before, between and behind them.
class Scattered {
 public:
  Scattered(std::size_t bytes, std::uint64_t seed);

  std::span<const swapmeet::Piece> pieces() const { return pieces_; }
  void fill(const Message& message);
  void poison();

  /// Whether the first `bytes` bytes are those of `message`, and all the others are as poison() left them.
  bool holds(const Message& message, std::size_t bytes) const;

 private:
  std::vector<char> memory_;
  std::vector<swapmeet::Piece> pieces_;
};
