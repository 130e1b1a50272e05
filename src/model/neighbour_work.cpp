#include "model/neighbour_work.hpp"

#include "model/unlike_ranks.hpp"

namespace swapmeet {

using Part = NeighbourPart;

NeighbourPart neighbour_part(const SlotFlow& flow, const Nodes& nodes) {
  NeighbourPart part;
  const auto elsewhere = [&](Rank peer) { return nodes.count() > 1 && nodes.of(peer) != nodes.of(flow.rank); };
  for (const SlotFlow::Phase& phase : flow.phases) {
    std::array<std::array<double, Part::count>, 2> both{};  // sent, received
    const auto add = [&](std::array<double, Part::count>& side, const Message& message) {
      const auto blocks = static_cast<double>(flow.block_count(message));
      const bool leaves = elsewhere(message.peer);
      side[leaves ? Part::messages_between : Part::messages_within] += 1;
      side[leaves ? Part::blocks_between : Part::blocks_within] += blocks;
      if (phase.packs && blocks > 1) side[Part::copied] += blocks;
    };
    for (const Round& round : flow.rounds_of(phase)) {
      for (const Message& message : flow.sends_of(round)) add(both[0], message);
      for (const Message& message : flow.receives_of(round)) add(both[1], message);
      both[0][Part::batches] += 1;
    }
    for (std::size_t i = 0; i < Part::count; ++i) {
      part.most.push_back(std::max(both[0][i], both[1][i]));
      part.sent.push_back(both[0][i]);
    }
  }
  return part;
}

Work neighbour_work(std::span<const double> most, std::span<const double> sums, Rank ranks, std::int32_t nodes,
                    bool shared) {
  Work work;
  work.ranks = ranks;
  work.shared = shared;
  for (std::size_t at = 0; at + Part::count <= most.size(); at += Part::count) {
    const auto traffic = [&](Part::Number messages, Part::Number blocks) {
      return PhaseTraffic{static_cast<std::int64_t>(most[at + messages]), static_cast<std::int64_t>(most[at + blocks]),
                          sums[at + messages] / nodes, sums[at + blocks] / nodes};
    };
    PhaseWork phase{traffic(Part::messages_within, Part::blocks_within),
                    traffic(Part::messages_between, Part::blocks_between)};
    work.packed.blocks += most[at + Part::copied];
    work.packed.pieces += most[at + Part::copied];
    append(phase, std::max<std::int64_t>(1, static_cast<std::int64_t>(most[at + Part::batches])), work);
  }
  return work;
}

}  // namespace swapmeet
