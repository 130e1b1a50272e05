/// Certificates from the schedules of all ranks, or from one if all ranks do the same.
#include "proofs/certificate.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "model/counts.hpp"
#include "model/threshold.hpp"
#include "proofs/scratch.hpp"
#include "proofs/standing_still.hpp"
#include "topology/arrangement.hpp"
#include "topology/nodes.hpp"

namespace swapmeet {

namespace {

constexpr std::int64_t most_events = 50'000'000;  ///< limit on the work of certify(spec)

/// Returns the bounds that follow from the schedule of the rank alone: all but early messages.
ExchangeBounds own_bounds(const Schedule& schedule) {
  ExchangeBounds bounds{.scratch_blocks = schedule.scratch_blocks};
  for (const Step& step : schedule.steps) {
    const auto in_batch = [&](std::uint32_t count, std::uint32_t first) {
      return std::int64_t{std::min(count - std::min(count, first), step.in_flight())};
    };
    for (std::uint32_t first = 0; first < std::max(step.send_count, step.receive_count); first += step.in_flight()) {
      const std::int64_t receives = in_batch(step.receive_count, first) * (step.posting == Posting::granted ? 2 : 1);
      bounds.requests = std::max(bounds.requests, in_batch(step.send_count, first) + receives);
      if (step.slides()) break;
    }
  }
  std::vector<Rank> peers;
  for (const Message& message : schedule.sends) peers.push_back(message.peer);
  for (const Message& message : schedule.receives) peers.push_back(message.peer);
  std::ranges::sort(peers);
  bounds.peers = std::ranges::unique(peers).begin() - peers.begin();
  return bounds;
}

/// Sets the bounds on early messages of a rank. `follows`: by the progress of the other ranks; else one grant for each
/// message that the rank sends.
void early(const Each& programs, Rank rank, bool follows, ExchangeBounds& bounds) {
  if (follows) StandingStill(programs, rank).run(bounds);
  else bounds.early_messages = programs.sends(rank);
}

void each_number(ExchangeBounds& to, const ExchangeBounds& from, auto combine) {
  for (const auto number : {&ExchangeBounds::requests, &ExchangeBounds::peers, &ExchangeBounds::early_messages,
                            &ExchangeBounds::early_blocks, &ExchangeBounds::scratch_blocks})
    to.*number = combine(to.*number, from.*number);
}

std::int64_t largest(std::int64_t a, std::int64_t b) { return std::max(a, b); }

/// Returns the number of ranks of a node if all nodes are equal and consecutive, else the number of all ranks.
Rank ranks_to_look_at(const Nodes& nodes, Rank ranks) { return nodes.regular() ? nodes.largest() : ranks; }

/// Whether two ranks send and receive the same messages, each relative to its own rank.
bool alike(const Schedule& a, const Schedule& b) {
  const auto same_rounds = [](const Step& one, const Step& other) {
    return one.send_count == other.send_count && one.receive_count == other.receive_count &&
           one.window == other.window && one.completion == other.completion && one.posting == other.posting;
  };
  const auto same_messages = [&](const std::vector<Message>& one, const std::vector<Message>& other) {
    return std::ranges::equal(one, other, [&](const Message& m, const Message& n) {
      return (m.peer - a.rank + a.ranks) % a.ranks == (n.peer - b.rank + b.ranks) % b.ranks &&
             a.block_count(m) == b.block_count(n);
    });
  };
  return std::ranges::equal(a.steps, b.steps, same_rounds) && same_messages(a.sends, b.sends) &&
         same_messages(a.receives, b.receives);
}

Certificate of_alike(const ExchangeBounds& rank, const Shape& shape, bool exact) {
  Certificate certificate{rank, {}, exact};
  const std::int64_t ranks = Nodes(shape).largest();
  each_number(certificate.node, rank, [&](std::int64_t, std::int64_t number) { return ranks * number; });
  return certificate;
}

/// Returns how many times the most bytes that any rank sends or receives may be forwarded through one rank:
/// docs/proofs.md.
std::int64_t passing_sums(const Spec& spec, const Counts& counts, std::int64_t ranks) {
  if (spec.family == Family::leaders) return 2 * std::int64_t{counts.sizes[0] - 1};
  if (spec.family != Family::bruck || counts.ranks_differ || !has_closed_form(spec)) return ranks - 1;
  std::int64_t sums = 0, before = 1;
  std::size_t dimension = 0;
  for (const Digit& digit : digits_along(spec.radices, counts.sizes)) {
    for (; dimension < digit.dimension; ++dimension) before *= counts.sizes[dimension];
    const std::int64_t size = counts.sizes[dimension], behind = ranks / (before * size);
    const std::int64_t next_weight = std::min(size, std::int64_t{digit.weight} * digit.radix);
    sums += std::min(before * (next_weight - digit.weight), (size + next_weight - 1) / next_weight * behind - 1);
  }
  return sums;
}

}  // namespace

Certificate certify(std::span<const Schedule> schedules, const Shape& shape) {
  const Each programs(schedules);
  const Nodes nodes(shape);
  auto period = static_cast<std::size_t>(ranks_to_look_at(nodes, shape.ranks));
  if (!std::ranges::equal(schedules.first(schedules.size() - period), schedules.subspan(period), alike))
    period = schedules.size();
  std::vector<ExchangeBounds> of_rank;
  for (const Schedule& schedule : schedules) of_rank.push_back(own_bounds(schedule));
  const bool follows = std::ranges::none_of(schedules, slides_by_grants);
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    if (r < period) early(programs, static_cast<Rank>(r), follows, of_rank[r]);
    of_rank[r].early_messages = of_rank[r % period].early_messages;
    of_rank[r].early_blocks = of_rank[r % period].early_blocks;
  }
  Certificate certificate;
  certificate.exact = follows;
  std::vector<ExchangeBounds> of_node(schedules.size());
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    each_number(certificate.rank, of_rank[r], largest);
    each_number(of_node[static_cast<std::size_t>(nodes.of(static_cast<Rank>(r)))], of_rank[r], std::plus{});
  }
  for (const ExchangeBounds& bounds : of_node) each_number(certificate.node, bounds, largest);
  return certificate;
}

Certificate certify(const Spec& spec, const Shape& shape) {
  const Counts counts = count(spec, shape);
  const std::int64_t of_all = 2 * shape.ranks * counts.messages;
  if (const std::optional<Arrangement> grid = alike_on(spec, shape)) {
    if (of_all > most_events) return certified_ceiling(spec, shape);
    const Schedule schedule = generate(spec, shape, 0);
    if (slides_by_grants(schedule)) return certified_ceiling(spec, shape);
    ExchangeBounds bounds = own_bounds(schedule);
    StandingStill(Alike(schedule, *grid), grid->place_of[0]).run(bounds);
    bounds.scratch_blocks = scratch_ceiling(spec, shape);
    return of_alike(bounds, shape, true);
  }
  if (of_all > most_events / ranks_to_look_at(Nodes(shape), shape.ranks) || shape.ranks > 1024)
    return certified_ceiling(spec, shape);
  std::vector<Schedule> schedules;
  for (Rank rank = 0; rank < shape.ranks; ++rank) schedules.push_back(generate(spec, shape, rank));
  return certify(schedules, shape);
}

Certificate certified_ceiling(const Spec& spec, const Shape& shape) {
  Ceiling bounds = ceiling(spec, shape);
  bounds.rank.scratch_blocks = scratch_ceiling(spec, shape);
  return of_alike(bounds.rank, shape, bounds.exact);
}

UnequalBounds certified_unequal(const Spec& spec, const Shape& shape) {
  const std::int64_t early_blocks = ceiling(spec, shape).rank.early_blocks;
  UnequalBounds bounds{ceiling_of_unequal(spec, shape)};
  if (!needs_sizes(spec) || spec.sizes == Sizes::padded) bounds.rank.scratch_blocks = scratch_ceiling(spec, shape);
  if (!needs_sizes(spec)) bounds.early_sums = std::min<std::int64_t>(2, early_blocks);
  else if (spec.sizes == Sizes::padded)
    bounds.early_sums = early_blocks + (spec.direct_bytes != Direct::never && shape.ranks > 1);
  else
    bounds.early_sums = (agreement_bytes(spec) > 0 ? 1 : 2) * (1 + passing_sums(spec, count(spec, shape), shape.ranks));
  return bounds;
}

}  // namespace swapmeet
