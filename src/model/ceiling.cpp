#include "model/ceiling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/counts.hpp"
#include "model/threshold.hpp"

namespace swapmeet {

namespace {

/// Upper bounds on the messages and blocks that a rank receives.
struct Received {
  std::int64_t messages, blocks;
};

Received received(const Spec& spec, const Counts& counts) {
  if (spec.family != Family::leaders) return {counts.messages, counts.blocks};
  const std::int64_t members = counts.sizes[0], nodes = counts.sizes[1];
  // The terms are: blocks of node peers and blocks to forward, both from members; blocks from other nodes; blocks from
  // leaders.
  return {3 * (members - 1) + nodes - 1, counts.blocks + 2 * members * members * nodes};
}

/// Returns the bound for a direct exchange in shift order, in batches of `window`: docs/proofs.md.
std::int64_t early_in_batches(std::int64_t ranks, std::int64_t window) {
  const double batches = std::ceil(std::sqrt(8.0 * static_cast<double>(ranks) / static_cast<double>(window) + 4));
  return window * (static_cast<std::int64_t>(batches) + 2);
}

}  // namespace

Ceiling ceiling(const Spec& spec, const Shape& shape) {
  const Counts counts = count(spec, shape);
  const Received arriving = received(spec, counts);
  const std::int64_t others = shape.ranks - 1, window = spec.window == 0 ? INT64_MAX : spec.window;
  // With leaders, and with proxies of nodes, a rank has more messages in flight than the window says.
  const bool counted = spec.family != Family::leaders && !counts.ranks_differ;
  ExchangeBounds rank{.requests = counted ? 2 * std::min(window, counts.messages) : counts.messages + arriving.messages,
                      .peers = std::min(others, counts.messages + arriving.messages),
                      .early_messages = 2 * arriving.messages,
                      .early_blocks = 2 * arriving.blocks};
  bool exact = false;
  if (spec.family == Family::direct) {
    const bool batches = spec.completion == Completion::all;
    exact = window >= others || !batches;
    if (window >= others) rank.early_messages = others;
    else if (!batches) rank.early_messages = 2 * others - window;
    else if (spec.order == Order::shift)
      rank.early_messages = std::min(2 * others, early_in_batches(shape.ranks, window));
    rank.early_blocks = rank.early_messages;
    rank.peers = others;
    if (spec.posting == Posting::granted) {
      rank.requests = 3 * std::min(window, others);
      const bool near = batches && spec.order == Order::shift && window < others / 6;  // docs/proofs.md
      rank.early_messages = near ? 6 * window : others;
      rank.early_blocks = 0;
      exact = window >= others;
    }
  }
  return {rank, exact};
}

ExchangeBounds ceiling_of_unequal(const Spec& spec, const Shape& shape) {
  ExchangeBounds rank = ceiling(spec, shape).rank;
  if (!needs_sizes(spec)) return rank;
  const bool agrees = agreement_bytes(spec) > 0;
  const std::int64_t direct = spec.direct_bytes == Direct::never ? 0 : shape.ranks - 1;
  if (spec.sizes != Sizes::padded) {
    const std::int64_t exchanges = agrees ? 1 : 2;
    const Counts counts = count(spec, shape);
    const Received arriving = received(spec, counts);
    const bool announced = spec.sizes == Sizes::ahead || spec.sizes == Sizes::total;
    rank.requests *= announced ? 2 : 1;
    rank.early_messages = exchanges * arriving.messages * (announced ? 2 : 1);
    rank.early_blocks = exchanges * arriving.blocks;
    rank.scratch_blocks = counts.blocks + arriving.blocks;
  }
  rank.requests += 2 * direct;
  rank.early_messages += direct + (agrees ? std::bit_width(static_cast<std::uint32_t>(shape.ranks - 1)) : 0);
  rank.early_blocks += direct;
  return rank;
}

std::int64_t early_bytes(const ExchangeBounds& bounds, std::int64_t block_bytes) {
  const std::int64_t entries = bounds.early_messages * early_entry_bytes,
                     most = bounds.early_messages * most_early_bytes;
  const bool all = bounds.early_blocks > 0 && block_bytes >= (most - entries) / bounds.early_blocks;
  return all ? most : entries + bounds.early_blocks * block_bytes;
}

}  // namespace swapmeet
