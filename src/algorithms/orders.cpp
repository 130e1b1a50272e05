#include "algorithms/orders.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "schedule/random.hpp"

namespace swapmeet {

std::vector<Rank> shuffled_ranks(Rank n, std::uint64_t seed) {
  std::vector<Rank> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  Random random(seed * 0x2545f4914f6cdd1du + static_cast<std::uint64_t>(n));
  for (std::size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[random.below(i)]);
  return ranks;
}

std::vector<SlotPeer> slot_order(std::span<const std::int32_t> slots) {
  std::vector<SlotPeer> peers;
  for (std::size_t other = 0; other < slots.size(); ++other)
    if (slots[other] >= 0) peers.push_back({slots[other], static_cast<std::int32_t>(other)});
  std::ranges::sort(peers, {}, &SlotPeer::slot);
  return peers;
}

Peers peer_order(Order order, const Shape& shape, Rank rank, std::uint64_t seed) {
  const auto p = static_cast<std::size_t>(shape.ranks);
  const auto me = static_cast<std::size_t>(rank);
  const bool randomised = order == Order::random || order == Order::scatter;
  const std::vector<Rank> ranks = randomised ? shuffled_ranks(shape.ranks, seed) : std::vector<Rank>{};
  std::size_t column = 0;  // index of `rank` in the first row
  while (order == Order::random && ranks[column] != rank) ++column;
  Peers peers{std::vector<Rank>(p), std::vector<Rank>(p)};
  for (std::size_t i = 0; i < p; ++i) {
    switch (order) {
      case Order::topology:
      case Order::groups:
      case Order::shift:
        peers.to[i] = static_cast<Rank>(me + i < p ? me + i : me + i - p);
        peers.from[i] = static_cast<Rank>(me < i ? me + p - i : me - i);
        break;
      case Order::exclusive_or: peers.to[i] = peers.from[i] = static_cast<Rank>(me ^ i); break;
      case Order::random:
        peers.to[i] = ranks[(i + me) % p];
        peers.from[i] = static_cast<Rank>((column + p - i) % p);
        break;
      case Order::scatter: peers.to[i] = peers.from[i] = ranks[i]; break;
    }
  }
  return peers;
}

}  // namespace swapmeet
