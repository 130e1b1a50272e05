/// Counts work message by message. The schedule of one rank stands for all if all ranks are alike; otherwise the
/// schedules of all ranks are made one after the other.
#include <algorithm>
#include <optional>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "model/unlike_ranks.hpp"

namespace swapmeet {

namespace {

/// The steps of an exchange, as far as the schedules of ranks have been added.
class Steps {
 public:
  Steps(const Nodes& nodes, Rank ranks) : nodes_(nodes), ranks_(ranks) {}

  /// Adds the schedule of a rank. Calls each_sender(message, use), which calls use(from, to) for each message that the
  /// given one stands for.
  void add(const Schedule& schedule, auto each_sender) {
    if (steps_.size() < schedule.steps.size()) steps_.resize(schedule.steps.size());
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      const Step& step = schedule.steps[i];
      Counted& most = steps_[i];
      most.keep_most(schedule, step);
      most.batches = std::max(most.batches, batches(step.send_count, step.in_flight()));
      if (step.send_count > 0 && !most.tally) most.tally.emplace(ranks_, nodes_);
      for (const Message& message : schedule.sends_of(step)) {
        const std::int64_t blocks = schedule.block_count(message);
        each_sender(message, [&](Rank from, Rank to) { most.tally->add(from, to, 1, blocks); });
      }
    }
  }

  void take(Work& work) {
    for (Counted& step : steps_) {
      add(work.packed, step.copies);
      add(work.typed, step.typed);
      work.typed_messages += step.typed.messages;
      if (step.tally) append(step.tally->take(), step.batches, work);
    }
  }

 private:
  struct Counted : StepCopies {
    std::int64_t batches = 0;
    std::optional<PhaseTally> tally;  ///< of a step in which some rank sends
  };

  static void add(Copies& sum, const Copies& more) { sum.blocks += more.blocks, sum.pieces += more.pieces; }

  const Nodes& nodes_;
  Rank ranks_;
  std::vector<Counted> steps_;
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

PhaseTally::PhaseTally(std::int64_t ranks, const Nodes& nodes) : nodes_(nodes) {
  for (auto& ends : of_rank_) ends.resize(static_cast<std::size_t>(ranks));
  for (auto& ends : of_node_) ends.resize(static_cast<std::size_t>(nodes.count()));
}

void PhaseTally::add(Rank from, Rank to, std::int64_t messages, std::int64_t blocks) {
  const bool several = nodes_.count() > 1;
  const auto source = static_cast<std::size_t>(several ? nodes_.of(from) : 0),
             target = static_cast<std::size_t>(several ? nodes_.of(to) : 0);
  const bool stays = source == target;
  of_rank_[stays][static_cast<std::size_t>(from)].sent.add(messages, blocks);
  of_rank_[stays][static_cast<std::size_t>(to)].received.add(messages, blocks);
  of_node_[stays][source].sent.add(messages, blocks);
  of_node_[stays][target].received.add(messages, blocks);
}

PhaseWork PhaseTally::take() {
  const auto most_of = [](std::vector<Ends>& all) {
    Volume most;
    for (Ends& ends : all) most.keep_most(ends.sent), most.keep_most(ends.received), ends = {};
    return most;
  };
  const auto traffic = [&](bool stays) {
    const Volume rank = most_of(of_rank_[stays]), node = most_of(of_node_[stays]);
    return PhaseTraffic{rank.messages, rank.blocks, static_cast<double>(node.messages),
                        static_cast<double>(node.blocks)};
  };
  return {traffic(true), traffic(false)};
}

void append(PhaseWork phase, std::int64_t batches, Work& work) {
  if (phase.messages() == 0) return;
  const std::int64_t blocks = phase.within.blocks + phase.between.blocks;
  phase.by_size = {
      EqualMessages{phase.messages(), static_cast<double>(blocks) / static_cast<double>(phase.messages())}};
  spread_batches(phase, batches);
  work.phases.push_back(phase);
}

void tally_schedules(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work) {
  Steps steps(nodes, shape.ranks);
  if (const std::optional<Arrangement> grid = alike_on(spec, shape)) {
    const Rank senders = standing_for_all(*grid, nodes), some = shape.ranks / 2;
    steps.add(generate(spec, shape, some), [&](const Message& message, auto use) {
      const std::int32_t offset = grid->offset(some, message.peer);
      for (Rank rank = 0; rank < senders; ++rank) use(rank, grid->rank_from(rank, offset));
    });
  } else {
    for (Rank rank = 0; rank < shape.ranks; ++rank)
      steps.add(generate(spec, shape, rank), [&](const Message& message, auto use) { use(rank, message.peer); });
  }
  steps.take(work);
}

}  // namespace swapmeet
