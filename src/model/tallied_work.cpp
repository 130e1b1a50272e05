#include "model/tallied_work.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "algorithms/families.hpp"
#include "model/counts.hpp"
#include "model/irregular.hpp"
#include "model/rounds.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

namespace {

/// Counts the messages and blocks that each rank and node sends and receives in a phase.
class PhaseTally {
 public:
  PhaseTally(const Shape& shape, const Nodes& nodes) : nodes_(nodes), ranks_(static_cast<std::size_t>(shape.ranks)) {
    clear();
  }

  void clear() {
    for (int stays : {0, 1}) {
      sent_[stays].assign(ranks_, {});
      received_[stays] = sent_[stays];
      out_[stays].assign(static_cast<std::size_t>(nodes_.count()), {});
      in_[stays] = out_[stays];
    }
  }

  void add(Rank from, Rank to, std::int64_t messages, std::int64_t blocks) {
    const bool stays = node(from) == node(to);
    sent_[stays][static_cast<std::size_t>(from)].add(messages, blocks);
    received_[stays][static_cast<std::size_t>(to)].add(messages, blocks);
    out_[stays][node(from)].add(messages, blocks);
    in_[stays][node(to)].add(messages, blocks);
  }

  /// Adds the phase to `work` with this number of batches, and clears the counts. All messages count as equally large.
  void end(std::int64_t batches, Work& work) {
    PhaseWork phase;
    for (int stays : {0, 1}) {
      PhaseTraffic& most = stays ? phase.within : phase.between;
      for (const auto* direction : {&sent_[stays], &received_[stays]})
        for (const Tally& rank : *direction) {
          most.messages = std::max(most.messages, rank.messages);
          most.blocks = std::max(most.blocks, rank.blocks);
        }
      for (const auto* direction : {&out_[stays], &in_[stays]})
        for (const Tally& node : *direction) {
          most.node_messages = std::max(most.node_messages, static_cast<double>(node.messages));
          most.node_blocks = std::max(most.node_blocks, static_cast<double>(node.blocks));
        }
    }
    clear();
    const std::int64_t blocks = phase.within.blocks + phase.between.blocks;
    if (phase.messages() == 0) return;
    phase.by_size = {
        EqualMessages{phase.messages(), static_cast<double>(blocks) / static_cast<double>(phase.messages())}};
    spread_batches(phase, batches);
    work.phases.push_back(phase);
  }

 private:
  std::size_t node(Rank rank) const { return static_cast<std::size_t>(nodes_.count() == 1 ? 0 : nodes_.of(rank)); }

  const Nodes& nodes_;
  std::size_t ranks_;
  std::array<std::vector<Tally>, 2> sent_, received_, out_, in_;  ///< index 0: between nodes; index 1: within nodes
};

/// Counts the work of an exchange without closed form by its messages.
class WorkReader : public RoundReader {
 public:
  WorkReader(const Shape& shape, const Nodes& nodes, Work& work) : work_(work), tally_(shape, nodes) {}

  void step(const Copies& copies, const TypedCopies& typed, bool) override {
    end();
    work_.typed.blocks += typed.blocks;
    work_.typed.pieces += typed.pieces;
    work_.typed_messages += typed.messages;
    work_.packed.blocks += copies.blocks;
    work_.packed.pieces += copies.pieces;
  }
  void round() override { ++batches_; }
  void message(Rank from, Rank to, std::int64_t blocks) override { tally_.add(from, to, 1, blocks); }
  void end() {
    if (batches_ > 0) tally_.end(batches_, work_);
    batches_ = 0;
  }

 private:
  Work& work_;
  PhaseTally tally_;
  std::int64_t batches_ = 0;
};

/// Returns the number of first ranks whose messages stand for those of all ranks, which are alike on `grid`. If nodes
/// are alike, too, these are the ranks of one node; otherwise all ranks.
Rank standing_for_all(const Arrangement& grid, const Nodes& nodes) {
  const std::int64_t q = nodes.largest();
  bool alike = nodes.regular() && std::ranges::is_sorted(grid.rank_at);
  std::int64_t inner = 1;  // number of places of the previous dimensions
  for (const std::int32_t size : grid.sizes) {
    const bool divided = inner < q && q < inner * size;  // several nodes share this dimension
    alike = alike && (divided ? q % inner == 0 && size % (q / inner) == 0 : q % inner == 0 || inner % q == 0);
    inner *= size;
  }
  return alike ? nodes.largest() : grid.places();
}

}  // namespace

void tally_proxies(const Spec& spec, const Shape& shape, const std::vector<std::int32_t>& sizes, const Nodes& nodes,
                   Work& work) {
  const std::vector<Digit> digits = digits_along(spec.radices, sizes);
  PhaseTally tally(shape, nodes);
  std::vector<double> copied(static_cast<std::size_t>(shape.ranks));
  const Digit* now = &digits.front();
  const auto end_digit = [&] { tally.end(spec.window == 0 ? 1 : (now->radix - 2 + spec.window) / spec.window, work); };
  const auto begin = [&](const Digit& digit, std::int32_t) {
    if (now != &digit) end_digit(), now = &digit;
  };
  for_each_move(arrange(spec.dimensions, shape), digits, begin,
                [&](const Digit& digit, Rank from, Rank to, std::int64_t blocks) {
                  copied[static_cast<std::size_t>(from)] += static_cast<double>(blocks);
                  if (from == to) return;
                  copied[static_cast<std::size_t>(to)] += static_cast<double>(blocks);
                  const bool staggered = spec.grouping == Grouping::staggered && digit.dimension + 1 == sizes.size();
                  tally.add(from, to, staggered ? blocks : 1, blocks);
                });
  end_digit();
  work.packed.blocks = work.packed.pieces = std::ranges::max(copied);
}

void tally_schedules(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work) {
  WorkReader reader(shape, nodes, work);
  if (const std::optional<Arrangement> grid = alike_on(spec, shape))
    report_alike(spec, shape, *grid, standing_for_all(*grid, nodes), reader);
  else if (const std::string problem = report_rounds(spec, shape, reader); !problem.empty())
    throw std::length_error(problem);
  reader.end();
}

}  // namespace swapmeet
