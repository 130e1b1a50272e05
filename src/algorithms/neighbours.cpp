/// Exchange with neighbours of a virtual topology: every block is sent in one message from its source to its
/// destination. Blocks of a rank for itself are copied.
///
/// An edge has a position that both of its ends know. On a grid it is the direction in which its block goes. Otherwise
/// it is the place of the peer in the order of the spec, with the first edges between two ranks before the second ones.
/// Both ends send and receive in the order of positions, so no rank waits forever: the first unfinished edge is the
/// first unfinished one of both of its ends. With complete=any and complete=test it is in both windows. With
/// complete=all a round holds `window` positions, all in flight together.
///
/// Source:  MPI-4.1, 8.6 (the meaning); fft, thakur2005, slimfly (the orders)
/// Cost:    a message for each edge, with α + m·β for m bytes              [checked by tests/core/neighbours_test.py]
/// Needs:   any order except topology and groups.   Scratch: 0 blocks.
/// Proof:   docs/proofs.md, "Exchange with neighbours"
#include "algorithms/neighbours.hpp"

#include <algorithm>
#include <bit>

#include "algorithms/neighbour_leaders.hpp"
#include "algorithms/orders.hpp"
#include "schedule/flow_builder.hpp"
#include "schedule/placement.hpp"

namespace swapmeet {

namespace {

/// A message of one block, with its position.
struct Positioned {
  std::int64_t position = 0;
  Rank peer = 0;
  Location block{};
};

/// Places determines the positions of edges by the places of all ranks in the peer order.
class Places {
 public:
  Places(const Spec& spec, const Neighbourhood& all) : order_(spec.order), ranks_(all.ranks), rank_(all.rank) {
    if (order_ != Order::random && order_ != Order::scatter) return;
    const Peers peers = peer_order(order_, Shape{ranks_}, rank_, spec.seed);
    for (const auto& [list, places] : {std::pair(&peers.to, &to_), std::pair(&peers.from, &from_)}) {
      places->resize(list->size());
      for (std::size_t i = 0; i < list->size(); ++i)
        (*places)[static_cast<std::size_t>((*list)[i])] = static_cast<std::int32_t>(i);
    }
  }

  std::int64_t of(const Edge& edge, bool is_send) const {
    const auto peer = static_cast<std::size_t>(edge.peer);
    const std::int64_t before = 2 * std::int64_t{edge.number} * std::bit_ceil(static_cast<std::uint32_t>(ranks_));
    switch (order_) {
      case Order::exclusive_or: return before + (edge.peer ^ rank_);
      case Order::random: return before + (is_send ? to_ : from_)[peer];
      case Order::scatter: return before + to_[peer] + to_[static_cast<std::size_t>(rank_)];
      default: {
        const std::int64_t ahead = is_send ? edge.peer - std::int64_t{rank_} : rank_ - std::int64_t{edge.peer};
        return before + (ahead + ranks_) % ranks_;
      }
    }
  }

 private:
  Order order_;
  Rank ranks_, rank_;
  std::vector<std::int32_t> to_, from_;
};

std::vector<Positioned> in_order(const Neighbourhood& all, const Places* places, const std::vector<Edge>& edges,
                                 bool is_send) {
  std::vector<Positioned> messages;
  for (const Edge& edge : edges)
    if (edge.peer != all.rank)
      messages.push_back({places ? places->of(edge, is_send) : edge.number, edge.peer,
                          is_send ? own_block(edge.block) : end_of(edge.block)});
  std::ranges::sort(messages, {}, &Positioned::position);
  return messages;
}

/// Adds rounds of `width` positions each, without rounds that would be empty.
void add_batches(std::int64_t width, Posting posting, std::span<const Positioned> sends,
                 std::span<const Positioned> receives, FlowBuilder& flow) {
  while (!sends.empty() || !receives.empty()) {
    std::int64_t batch = INT64_MAX;
    for (const auto& list : {sends, receives})
      if (!list.empty()) batch = std::min(batch, list.front().position / width);
    flow.round(0, Completion::all, posting);
    for (; !sends.empty() && sends.front().position / width == batch; sends = sends.subspan(1))
      flow.send(sends.front().peer, sends.front().block, true);
    for (; !receives.empty() && receives.front().position / width == batch; receives = receives.subspan(1))
      flow.receive(receives.front().peer, receives.front().block, true);
  }
}

SlotFlow direct(const Spec& spec, const Neighbourhood& neighbourhood) {
  const std::vector<Edge> out = edges_out(neighbourhood), in = edges_in(neighbourhood);
  const Places in_graph(spec, neighbourhood);
  const Places* const places = neighbourhood.grid ? nullptr : &in_graph;
  const std::vector<Positioned> sends = in_order(neighbourhood, places, out, true),
                                receives = in_order(neighbourhood, places, in, false);
  FlowBuilder flow(Shape{neighbourhood.ranks}, neighbourhood.rank);
  flow.reserve(std::max(sends.size(), receives.size()));
  flow.neighbours(neighbourhood.degrees());
  flow.phase(false);
  for (const OwnBlock& own : own_blocks(neighbourhood)) flow.move(own_block(own.from), end_of(own.to));
  if (spec.completion == Completion::all && spec.window > 0 && !(sends.empty() && receives.empty())) {
    add_batches(spec.window, spec.posting, sends, receives, flow);
  } else {
    flow.round(spec.window, spec.completion, spec.posting);
    for (const Positioned& one : sends) flow.send(one.peer, one.block, true);
    for (const Positioned& one : receives) flow.receive(one.peer, one.block, true);
  }
  return std::move(flow).finish();
}

}  // namespace

std::string unsuitable_for_neighbours(const Spec& spec) {
  if (spec.family == Family::native) return "";
  if (spec.family == Family::bruck) return "blocks for neighbours are sent directly, or by leaders of nodes";
  if (spec.order == Order::topology || spec.order == Order::groups)
    return "an order of the topology or by groups is for exchanges of all with all";
  // With several messages to one rank, the second one could be granted before the first.
  if (spec.posting == Posting::granted)
    return "post=granted is for one message between two ranks, not for several edges";
  if (spec.family == Family::direct && spec.sizes != Sizes::automatic)
    return "neighbours know the sizes of their blocks, and exchange none";
  if (spec.sizes == Sizes::padded) return "blocks for neighbours are not padded: not all ranks know the largest";
  if (spec.family == Family::leaders && (spec.direct_bytes == Direct::automatic || spec.direct_bytes == Direct::never))
    return "direct= must be a number of bytes: neighbours agree on nothing before a call";
  return "";
}

Schedule generate(const Spec& spec, const Neighbourhood& neighbourhood) {
  return place(direct(spec, neighbourhood), spec, Shape{neighbourhood.ranks});
}

SlotFlow slot_flow(const Spec& spec, const NodeNeighbourhoods& all, Rank rank) {
  return forwards(spec) ? leaders_for_neighbours(spec, all, rank) : direct(spec, all.of(rank));
}

Schedule generate(const Spec& spec, const NodeNeighbourhoods& all, Rank rank) {
  return place(slot_flow(spec, all, rank), spec, all.shape);
}

Flow flow(const Spec& spec, const NodeNeighbourhoods& all, Rank rank) { return flow_of(slot_flow(spec, all, rank)); }

}  // namespace swapmeet
