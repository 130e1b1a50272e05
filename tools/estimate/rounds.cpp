#include "estimate/rounds.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "algorithms/group_order.hpp"
#include "algorithms/orders.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

namespace {

/// An order balanced by groups, slot by slot.
class GroupColumns {
 public:
  GroupColumns(const Spec& spec, const Shape& shape)
      : order_(spec, shape), rank_at_(static_cast<std::size_t>(order_.slots()), -1) {
    for (Rank rank = 0; rank < shape.ranks; ++rank)
      rank_at_[static_cast<std::size_t>(order_.group(rank) * order_.largest() + order_.place(rank))] = rank;
  }

  Rank count() const { return static_cast<Rank>(rank_at_.size()); }
  /// Returns the rank to which `from` sends in a slot, possibly itself; -1: none.
  Rank receiver(Rank from, std::int32_t slot) const {
    const std::int32_t groups = order_.groups(), place = order_.place(from);
    const std::int64_t group = (order_.group(from) + slot % groups + std::int64_t{order_.stride()} * place) % groups;
    return rank_at_[static_cast<std::size_t>(group * order_.largest() + (place + slot / groups) % order_.largest())];
  }

 private:
  GroupOrder order_;
  std::vector<Rank> rank_at_;  ///< at [group · largest + place]; -1: none
};

/// Reports a direct exchange, computed from its order alone.
class InOrder {
 public:
  InOrder(const Spec& spec, const Shape& shape, RoundReader& reader)
      : order_(spec.order), ranks_(shape.ranks), reader_(reader) {
    if (order_ == Order::groups) groups_.emplace(spec, shape);
    if (order_ != Order::random && order_ != Order::scatter) return;
    row_ = shuffled_ranks(ranks_, spec.seed);
    place_.resize(row_.size());
    for (std::size_t i = 0; i < row_.size(); ++i) place_[static_cast<std::size_t>(row_[i])] = static_cast<Rank>(i);
  }

  void report(std::int32_t window, bool sliding) {
    reader_.step({1, 1}, {}, sliding);
    const Rank columns = groups_ ? groups_->count() : ranks_;
    const Rank width = window == 0 || window >= columns ? columns : window;
    if (order_ == Order::scatter) return report_pairs(width);
    for (Rank first = order_ == Order::exclusive_or ? 1 : 0; first < columns; first += width) {
      reader_.round();
      for (Rank column = first; column < std::min(first + width, columns); ++column)
        for (Rank rank = 0; rank < ranks_; ++rank) report(rank, peer(rank, column));
    }
  }

 private:
  Rank peer(Rank rank, Rank column) const {
    if (order_ == Order::exclusive_or) return rank ^ column;
    if (groups_) return groups_->receiver(rank, column);
    const auto sum = static_cast<std::size_t>(rank) + static_cast<std::size_t>(column);
    return row_[sum < row_.size() ? sum : sum - row_.size()];
  }

  void report(Rank from, Rank to) {
    if (from != to && to >= 0) reader_.message(from, to, 1);
  }

  /// Reports the rounds of order=scatter. In each, the ranks in windows j and k of the order exchange, for all j and k
  /// with the same sum.
  void report_pairs(Rank width) {
    const Rank windows = (ranks_ + width - 1) / width;
    for (Rank sum = 0; sum < 2 * windows - 1; ++sum) {
      reader_.round();
      for (const Rank rank : row_) {
        const Rank other = sum - place_[static_cast<std::size_t>(rank)] / width;
        if (other < 0) continue;
        for (std::int64_t i = std::int64_t{other} * width;
             i < std::min<std::int64_t>(ranks_, (std::int64_t{other} + 1) * width); ++i)
          report(rank, row_[static_cast<std::size_t>(i)]);
      }
    }
  }

  Order order_;
  Rank ranks_;
  RoundReader& reader_;
  std::optional<GroupColumns> groups_;
  std::vector<Rank> row_, place_;  ///< the random permutation, and the index of each rank in it
};

/// A message kept for the report.
struct Kept {
  Rank from, to;
  std::int64_t blocks;
};

/// A step of the exchange, with the messages of all ranks.
struct KeptStep : StepCopies {
  bool sliding = false;
  std::vector<std::vector<Kept>> rounds;
};

/// Adds the steps of one rank's schedule.
void keep(const Schedule& schedule, std::vector<KeptStep>& steps) {
  if (steps.size() < schedule.steps.size()) steps.resize(schedule.steps.size());
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    KeptStep& kept = steps[i];
    kept.keep_most(schedule, step);
    kept.sliding |= step.slides();
    const auto sends = schedule.sends_of(step);
    for (std::size_t sent = 0; sent < sends.size(); ++sent) {
      const std::size_t round = sent / step.in_flight();
      if (kept.rounds.size() <= round) kept.rounds.resize(round + 1);
      kept.rounds[round].push_back({schedule.rank, sends[sent].peer, schedule.block_count(sends[sent])});
    }
  }
}

/// Reports the schedules of all ranks, which are kept in memory. Returns "" or the problem.
std::string report_kept(const Spec& spec, const Shape& shape, RoundReader& reader) {
  std::vector<KeptStep> steps;
  std::int64_t messages = 0;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const Schedule schedule = generate(spec, shape, rank);
    messages += static_cast<std::int64_t>(schedule.sends.size());
    if (messages > most_kept_messages || (rank == 0 && messages > most_kept_messages / shape.ranks))
      return "more than " + std::to_string(most_kept_messages) +
             " messages of ranks that are not alike: choose fewer ranks, or equal nodes";
    keep(schedule, steps);
  }
  for (const KeptStep& step : steps) {
    reader.step(step.copies, step.typed, step.sliding);
    for (const std::vector<Kept>& round : step.rounds) {
      reader.round();
      for (const Kept& message : round) reader.message(message.from, message.to, message.blocks);
    }
  }
  return "";
}

/// Reports the messages of all ranks, which are alike on `grid`, from the schedule of one rank.
void report_alike(const Spec& spec, const Shape& shape, const Arrangement& grid, RoundReader& reader) {
  const Rank some = shape.ranks / 2;
  const Schedule schedule = generate(spec, shape, some);
  for (const Step& step : schedule.steps) {
    reader.step(copies_of(schedule, step), typed_copies_of(schedule, step), step.slides());
    const auto sends = schedule.sends_of(step);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      if (i % step.in_flight() == 0) reader.round();
      const std::int32_t offset = grid.offset(some, sends[i].peer);
      const std::int64_t blocks = schedule.block_count(sends[i]);
      for (Rank rank = 0; rank < shape.ranks; ++rank) reader.message(rank, grid.rank_from(rank, offset), blocks);
    }
  }
}

}  // namespace

std::string report_rounds(const Spec& spec, const Shape& shape, RoundReader& reader) {
  if (const std::optional<Arrangement> grid = alike_on(spec, shape))
    return report_alike(spec, shape, *grid, reader), "";
  if (spec.family != Family::direct || spec.order == Order::topology) return report_kept(spec, shape, reader);
  const auto peers = static_cast<std::uint32_t>(shape.ranks - 1);
  const Round round{.send_count = peers, .window = spec.window, .completion = spec.completion};
  InOrder(spec, shape, reader).report(spec.window, round.slides());
  return "";
}

}  // namespace swapmeet
