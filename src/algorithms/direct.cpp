/// Direct exchange: every block in one message from its source to its destination. One step; what makes the named
/// algorithms differ is only the peer order, the window, the completion rule and the segment size.
///
/// Source:  thakur2005 (pairwise, spread-out), fft (multi-pair), slimfly (randomised)
/// Cost:    (P-1)·(α + m·β), m = bytes per block: K = D = P-1                [checked by tests/core/direct_test.py]
/// Needs:   any P >= 1 (order=xor: a power of two).   Scratch: 0 blocks.
/// Proof:   docs/proofs.md, "Direct exchange"
#include "algorithms/direct.hpp"

#include "algorithms/orders.hpp"
#include "schedule/builder.hpp"

namespace swapmeet {

Schedule direct(const Spec& spec, const Shape& shape, Rank rank) {
  const Peers peers = peer_order(spec.order, shape, rank, spec.seed);
  ScheduleBuilder plan(shape, rank);
  plan.reserve(static_cast<std::size_t>(shape.ranks)).segments(spec.segment_bytes);
  plan.step(spec.window, spec.completion, spec.posting);
  plan.copy(sendblock(rank), receiveblock(rank));
  for (const Rank to : peers.to)
    if (to != rank) plan.send(to, sendblock(to), true);
  for (const Rank from : peers.from)
    if (from != rank) plan.receive(from, receiveblock(from), true);
  return std::move(plan).finish();
}

}  // namespace swapmeet
