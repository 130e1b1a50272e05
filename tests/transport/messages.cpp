#include "messages.hpp"

#include <algorithm>

namespace {

constexpr char guard = 0x5a;

std::size_t size(const Settings& settings, std::uint64_t key) {
  switch (key % 8) {
    case 0: return 1;
    case 1: return settings.channel.bulk_bytes;
    case 2: return settings.channel.bulk_bytes + 1;
    case 3: return std::size_t{settings.channel.bulk_bytes} * settings.channel.cells;
    case 4: return 1 + draw(key, 1) % settings.most_bytes;
    default: return 1 + draw(key, 1) % std::min<std::size_t>(settings.most_bytes, 4096);
  }
}

}  // namespace

std::uint64_t draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t value = seed;
  for (const std::uint64_t more : {a, b, c}) {
    value = (value ^ more) + 0x9E3779B97F4A7C15;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    value ^= value >> 31;
  }
  return value;
}

std::vector<Message> messages(const Settings& settings, std::uint32_t step, std::uint32_t from, std::uint32_t to) {
  const std::uint64_t pair = draw(settings.seed, step, from, to);
  std::vector<Message> all(pair % 5);
  for (std::size_t k = 0; k < all.size(); ++k) {
    Message& message = all[k];
    message.key = draw(pair, k);
    message.bytes = message.expected = size(settings, draw(message.key, 2));
    message.offered = draw(message.key, 3) % 100 < settings.offered;
    if (draw(message.key, 4) % 100 < settings.cut) message.expected = 1 + draw(message.key, 5) % message.bytes;
    if (draw(message.key, 6) % 10 == 0) message.expected += draw(message.key, 7) % 500;  // more room than is needed
    message.of_any_size = message.expected == message.bytes && draw(message.key, 10) % 4 == 0;
  }
  return all;
}

Scattered::Scattered(std::size_t bytes, std::uint64_t seed) {
  constexpr std::uint64_t usual[] = {1, 1, 2, 3, 5, 200};
  const std::uint64_t count = usual[draw(seed, 1) % std::size(usual)];
  std::vector<std::size_t> offsets, lengths;
  std::size_t offset = 0;
  for (std::uint64_t k = 0; k < count || bytes > 0; ++k) {
    offset += 1 + draw(seed, 2, k) % 40;
    const std::size_t length =
        k + 1 >= count ? bytes : std::min<std::size_t>(bytes, draw(seed, 3, k) % (2 * bytes / count + 2));
    offsets.push_back(offset), lengths.push_back(length);
    offset += length, bytes -= length;
  }
  memory_.resize(offset + 64, guard);
  for (std::size_t k = 0; k < offsets.size(); ++k) pieces_.push_back({memory_.data() + offsets[k], lengths[k]});
  if (draw(seed, 4) % 2) std::reverse(pieces_.begin(), pieces_.end());  // in memory, that is
}

void Scattered::fill(const Message& message) {
  std::size_t index = 0;
  for (const swapmeet::Piece& piece : pieces_)
    for (std::size_t k = 0; k < piece.bytes; ++k) piece.address[k] = static_cast<char>(message.byte(index++));
}

void Scattered::poison() { std::fill(memory_.begin(), memory_.end(), guard); }

bool Scattered::holds(const Message& message, std::size_t bytes) const {
  std::vector<char> right(memory_.size(), guard);
  std::size_t index = 0;
  for (const swapmeet::Piece& piece : pieces_)
    for (std::size_t k = 0; k < piece.bytes && index < bytes; ++k, ++index)
      right[static_cast<std::size_t>(piece.address - memory_.data()) + k] = static_cast<char>(message.byte(index));
  return index == bytes && right == memory_;
}
