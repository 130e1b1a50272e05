#include "estimate/round_counts.hpp"

#include "algorithms/families.hpp"
#include "model/unlike_ranks.hpp"

namespace swapmeet {

namespace {

/// Returns the dimension, digit and weight of each phase of an exchange in digits or by leaders.
std::vector<RoundCounts> labels_of(const Spec& spec, const Shape& shape) {
  if (spec.family == Family::leaders) return {{0, 0}, {1, 0}, {0, 1}};
  if (spec.family == Family::direct) return {{}};
  std::vector<RoundCounts> labels;
  for (const Digit& digit : digits_along(spec.radices, extent(spec.dimensions, shape).sizes))
    labels.push_back({static_cast<std::int32_t>(digit.dimension), digit.number, digit.weight});
  return labels;
}

/// Whether the flow of a rank stands for those of all: of one rank if all ranks are alike; of those of a node if equal
/// nodes have leaders.
bool is_looked_at(Rank rank, const Spec& spec, const Nodes& nodes, bool alike) {
  if (alike) return rank == 0;
  const bool equal = nodes.count() > 1 && nodes.smallest() == nodes.largest();
  return spec.family != Family::leaders || !equal || nodes.of(rank) == 0;
}

/// Returns the messages of a phase by position. If `by_round`, each round is a position; otherwise each peer is.
std::vector<Volume> positions_of(const SlotFlow& flow, const SlotFlow::Phase& phase, bool by_round) {
  std::vector<Volume> positions(by_round ? phase.round_count : 0);
  const auto rounds = flow.rounds_of(phase);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    Rank peer = flow.rank;
    for (const Message& message : flow.sends_of(rounds[i])) {
      if (!by_round && message.peer != peer) positions.emplace_back();
      peer = message.peer;
      (by_round ? positions[i] : positions.back()).add(1, flow.block_count(message));
    }
  }
  return positions;
}

}  // namespace

std::vector<RoundCounts> count_rounds(const Spec& spec, const Shape& shape) {
  Spec one = spec;
  const bool labelled = has_closed_form(spec);
  if (labelled)
    one.window = 1, one.completion = Completion::all, one.order = Order::shift;  // a round for each position
  const bool alike = alike_on(one, shape).has_value(), by_round = !labelled || !alike;
  const Nodes nodes(shape);
  std::vector<std::vector<Volume>> phases;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    if (!is_looked_at(rank, spec, nodes, alike)) continue;
    const SlotFlow flow = algorithm_of(spec.family).flow(one, shape, rank);
    phases.resize(std::max(phases.size(), flow.phases.size()));
    for (std::size_t i = 0; i < flow.phases.size(); ++i) {
      const std::vector<Volume> now = positions_of(flow, flow.phases[i], by_round);
      phases[i].resize(std::max(phases[i].size(), now.size()));
      for (std::size_t z = 0; z < now.size(); ++z) phases[i][z].keep_most(now[z]);
    }
  }
  const std::vector<RoundCounts> labels = labelled ? labels_of(spec, shape) : std::vector<RoundCounts>(phases.size());
  std::vector<RoundCounts> rounds;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const std::size_t before = labelled ? 0 : rounds.size();
    for (std::size_t z = 0; z < phases[i].size(); ++z) {
      if (spec.family == Family::leaders && phases[i][z].messages == 0) continue;
      RoundCounts& round = rounds.emplace_back(labels[i]);
      round.value = static_cast<std::int32_t>(before + z + 1);
      round.messages = phases[i][z].messages, round.blocks = phases[i][z].blocks;
    }
  }
  return rounds;
}

}  // namespace swapmeet
