/// Direct exchange: every block in one message from its source to its destination. One step; what makes the named
/// algorithms differ is only the peer order, the window, the completion rule and the segment size.
///
/// With order=topology a message has a slot, which is its height (algorithms/phase.hpp): with complete=all a step holds
/// the messages of `window` slots, in which a rank may have none.
///
/// Source:  thakur2005 (pairwise, spread-out), fft (multi-pair), slimfly (randomised)
/// Cost:    (P-1)·(α + m·β), m = bytes per block: K = D = P-1                [checked by tests/core/direct_test.py]
/// Needs:   any P >= 1 (order=xor: a power of two).   Scratch: 0 blocks.
/// Proof:   docs/proofs.md, "Direct exchange"
#include "algorithms/direct.hpp"

#include "algorithms/orders.hpp"
#include "algorithms/phase.hpp"
#include "schedule/builder.hpp"

namespace swapmeet {

namespace {

Schedule in_slots(const Spec& spec, const Shape& shape, Rank rank) {
  const SlotRows& order = *shape.order;
  Phase phase{order.slots};
  phase.copies.push_back({{sendblock(rank)}, {receiveblock(rank)}});
  for (const auto& [slot, to] : slot_order(order.sends_of(rank)))
    phase.outgoing.push_back({to, slot + 1, true, {sendblock(to)}});
  for (const auto& [slot, from] : slot_order(order.receives_of(rank)))
    phase.incoming.push_back({from, slot + 1, true, {receiveblock(from)}});
  ScheduleBuilder plan(shape, rank);
  plan.reserve(static_cast<std::size_t>(shape.ranks)).segments(spec.segment_bytes);
  add_phase(plan, spec, phase);
  return std::move(plan).finish();
}

}  // namespace

Schedule direct(const Spec& spec, const Shape& shape, Rank rank) {
  if (spec.order == Order::topology && shape.order) return in_slots(spec, shape, rank);
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
