#include "row_member.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

using swapmeet::Piece;
using swapmeet::Transfer;

namespace {

constexpr char guard = 0x5a;
constexpr std::size_t guards = 16;

/// Of all blocks of a step; 0: each has another size.
std::size_t equal_bytes(const Settings& settings, std::uint32_t step) {
  const std::uint64_t key = draw(settings.seed, step, 20);
  if (key % 2) return 0;
  return 1 + draw(key, 1) % (key % 3 ? std::min<std::size_t>(settings.row_block_bytes, 100) : settings.row_block_bytes);
}

/// Of a block, whose key is of both ends.
std::size_t size(const Settings& settings, std::uint64_t key) {
  switch (key % 8) {
    case 0: return 0;
    case 1: return settings.row_block_bytes;
    case 2: return settings.row_block_bytes + 1;
    case 3: return 1 + draw(key, 1) % settings.most_bytes;
    default: return 1 + draw(key, 1) % settings.row_block_bytes;
  }
}

char byte(std::uint64_t key, std::size_t index) { return static_cast<char>(key + index * 31 + (index >> 8) * 7); }

}  // namespace

RowMember::Block RowMember::block(std::uint32_t step, std::uint32_t other, bool outgoing) const {
  const std::uint32_t from = outgoing ? me_ : other, to = outgoing ? other : me_;
  const std::uint64_t key = draw(settings_.seed, step, 21 + from, to);
  const std::size_t equal = equal_bytes(settings_, step);
  Block block{other, outgoing, equal > 0 ? equal : size(settings_, key), 0, false, {}, {}, {}};
  block.expected = block.bytes;
  // who has no data has none for anybody
  block.failed = draw(settings_.seed, step, 22, from) % 100 < settings_.failing;
  if (equal == 0 && block.bytes > 0 && draw(key, 2) % 100 < settings_.cut)
    block.expected = 1 + draw(key, 3) % block.bytes;
  const std::size_t room = outgoing ? block.bytes : block.expected;
  block.memory.assign(room + guards, guard);
  block.piece = {block.memory.data(), room};
  for (std::size_t i = 0; outgoing && i < room; ++i) block.memory[i] = byte(key, i);
  return block;
}

void RowMember::start(Block& block, std::uint16_t call) {
  swapmeet::NodeRows& rows = node_.rows();
  swapmeet::NodeLink& link = node_.link(block.other);
  block.piece.address = block.memory.data();  // it may have moved
  const std::span<const Piece> pieces(&block.piece, 1);
  if (!block.outgoing || block.bytes == 0) {
    block.transfer = Transfer::by_rows(link, pieces, block.expected, false, call);
    if (block.bytes == 0) block.transfer.state = Transfer::State::done;
  } else if (block.failed) {
    rows.mark_failed(block.other);
    block.transfer.state = Transfer::State::done;
  } else if (block.bytes > rows.block_bytes()) {
    rows.mark_elsewhere(block.other);
    block.transfer = Transfer::send(link, pieces, block.bytes, {}, call);
  } else if (rows.ready()) {
    rows.write(block.other, block.piece);
    block.transfer.state = Transfer::State::done;
  } else {
    rows.defer();
    block.transfer = Transfer::by_rows(link, pieces, block.bytes, true, call);
  }
}

void RowMember::check(const Block& block, std::uint32_t step) {
  const std::uint64_t key = draw(settings_.seed, step, 21 + block.other, me_);
  const std::size_t arrived = block.failed ? 0 : std::min(block.bytes, block.expected);
  bool right = block.transfer.failed == (block.failed && block.bytes > 0);
  if (!block.failed) right &= block.transfer.cut == (block.bytes > block.expected);
  for (std::size_t i = 0; i < block.memory.size(); ++i)
    right &= block.memory[i] == (i < arrived ? byte(key, i) : guard);
  if (right) return;
  std::printf("member %u, step %u: the block from %u is wrong: %zu B, %zu expected%s\n", me_, step, block.other,
              block.bytes, block.expected, block.failed ? ", without data" : "");
  if (++wrong_ < 5) return;
  std::fflush(stdout);
  _exit(1);  // the others wait for ever
}

void RowMember::step(std::uint32_t number) {
  const auto call = static_cast<std::uint16_t>(number + 1);
  std::vector<Block> blocks;
  for (std::uint32_t i = 1; i < settings_.members; ++i)
    for (const bool outgoing : {true, false}) blocks.push_back(block(number, (me_ + i) % settings_.members, outgoing));
  node_.rows().begin(call, equal_bytes(settings_, number));
  for (Block& block : blocks) start(block, call);
  node_.rows().mark_posted();
  for (std::size_t left = 1; left > 0;) {
    bool moved = false;
    left = node_.raise() ? 0 : 1;
    const std::size_t first = blocks.empty() ? 0 : draw(settings_.seed, me_, ++draws_) % blocks.size();
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      Transfer& transfer = blocks[(first + k) % blocks.size()].transfer;
      if (!transfer.done() && draw(settings_.seed, me_, ++draws_) % 4) moved |= node_.advance(transfer);
      left += !transfer.done();
    }
    if (node_.broken() != swapmeet::Broken::no) {
      std::printf("member %u, step %u: out of step\n", me_, number);
      std::fflush(stdout);
      _exit(1);
    }
    node_.waiter().turn(moved, false, [] {});
  }
  for (Block& block : blocks) block.outgoing ? void(std::ranges::fill(block.memory, guard)) : check(block, number);
}

int RowMember::run() {
  for (std::uint32_t number = 0; number < settings_.steps; ++number) {
    step(number);
    if (draw(settings_.seed, me_, ++draws_) % 16 == 0) usleep(200);  // so that the others get ahead
  }
  return wrong_;
}
