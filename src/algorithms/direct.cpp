/// Direct exchange: every block is sent in one message from its source to its destination, in one round. The named
/// algorithms differ only in the peer order, the window, the completion rule and the segment size.
///
/// With order=topology or order=groups a message has a slot, which determines its position (algorithms/phase.hpp). With
/// complete=all a round holds the messages of `window` slots; a rank may have none in a slot.
///
/// Source:  thakur2005 (pairwise, spread-out), fft (multi-pair), slimfly (randomised)
/// Cost:    (P-1)·(α + m·β), m = bytes per block: K = D = P-1                [checked by tests/core/direct_test.py]
/// Needs:   any P >= 1 (order=xor: a power of two).   Scratch: 0 blocks.
/// Proof:   docs/proofs.md, "Direct exchange"
#include <bit>

#include "algorithms/families.hpp"
#include "algorithms/group_order.hpp"
#include "algorithms/orders.hpp"
#include "algorithms/phase.hpp"

namespace swapmeet {

namespace {

/// Adds the rounds of an order with slots. `sends` and `receives` hold the slot for each other rank; -1: the rank
/// itself.
void add_in_slots(const Spec& spec, std::int32_t slots, std::span<const std::int32_t> sends,
                  std::span<const std::int32_t> receives, FlowBuilder& flow) {
  std::vector<Run> places;  // of sent blocks, then of received ones
  places.reserve(2 * sends.size());
  const auto messages = [&](std::span<const std::int32_t> slot_of, Location (*place_of)(Rank)) {
    std::vector<PositionedMessage> all;
    for (const auto& [slot, other] : slot_order(slot_of)) {
      places.push_back(run_of(place_of(other)));
      all.push_back({other, slot + 1, true, {&places.back(), 1}});
    }
    return all;
  };
  const std::vector<PositionedMessage> outgoing = messages(sends, own_block), incoming = messages(receives, end_of);
  add_rounds(flow, spec, slots, spec.completion == Completion::all, outgoing, incoming);
}

SlotFlow direct(const Spec& spec, const Shape& shape, Rank rank) {
  FlowBuilder flow(shape, rank);
  flow.reserve(static_cast<std::size_t>(shape.ranks));
  flow.phase(false).move(own_block(rank), end_of(rank));
  if (const auto order = slots_of(spec, shape, rank)) {
    add_in_slots(spec, order->slots, order->sends_of(rank), order->receives_of(rank), flow);
    return std::move(flow).finish();
  }
  const Peers peers = peer_order(spec.order, shape, rank, spec.seed);
  flow.round(spec.window, spec.completion, spec.posting);
  for (const Rank to : peers.to)
    if (to != rank) flow.send(to, own_block(to), true);
  for (const Rank from : peers.from)
    if (from != rank) flow.receive(from, end_of(from), true);
  return std::move(flow).finish();
}

std::string unsuitable_order(const Spec& spec, const Shape& shape) {
  if (spec.order == Order::groups) return too_unequal_groups(spec, shape);
  if (spec.order != Order::exclusive_or || std::has_single_bit(static_cast<std::uint32_t>(shape.ranks))) return "";
  return "order=xor needs a power of two of ranks, not " + std::to_string(shape.ranks);
}

std::optional<Arrangement> one_dimension(const Spec& spec, const Shape& shape) {
  if (spec.order != Order::shift) return std::nullopt;
  return arrange({}, shape);
}

}  // namespace

extern const Algorithm direct_family{direct, unsuitable_order, one_dimension};

}  // namespace swapmeet
