#include "model/work.hpp"

#include <algorithm>

#include "model/unlike_ranks.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

namespace {

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Adds the initial and final copies (rotations) and that of the own block.
void add_rotations(const Spec& spec, std::int64_t ranks, const std::vector<std::int32_t>& sizes, Work& work) {
  if (spec.layout == Layout::zero_rotation) return work.packed.blocks += 1, work.packed.pieces += 1, void();
  const auto p = static_cast<double>(ranks);
  work.packed.blocks += p;
  work.packed.pieces += p;
  if (spec.layout != Layout::basic) return;
  const auto row = std::ranges::find_if(sizes, [](std::int32_t size) { return size > 1; });
  work.packed.blocks += p;
  work.packed.pieces += row == sizes.end() ? 1 : 2 * p / *row;
}

/// Returns the empty messages that grant those of `phase`: as many, but none within nodes if these messages bypass MPI.
PhaseWork grants_of(const PhaseWork& phase, const Spec& spec) {
  PhaseWork grants = phase;
  if (spec.intra != Transport::mpi) grants.within = {};
  for (PhaseTraffic* traffic : {&grants.within, &grants.between}) traffic->blocks = 0, traffic->node_blocks = 0;
  grants.by_size = {EqualMessages{grants.messages(), 0}};
  set_batches(grants, spec.window);
  return grants;
}

void count_direct(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work) {
  PhaseWork phase;
  const std::int64_t all = shape.ranks - 1, inside = nodes.smallest() - 1;
  phase.within = {inside, inside};
  phase.between = {all - inside, all - inside};
  for (std::int32_t node = 0; node < nodes.count(); ++node) {
    const double size = nodes.size(node), leaving = size * (shape.ranks - size);
    phase.within.node_messages = std::max(phase.within.node_messages, size * (size - 1));
    phase.between.node_messages = std::max(phase.between.node_messages, leaving);
  }
  phase.within.node_blocks = phase.within.node_messages;
  phase.between.node_blocks = phase.between.node_messages;
  phase.by_size = {EqualMessages{all, 1}};
  set_batches(phase, spec.window);
  if (all > 0 && spec.posting == Posting::granted) work.phases.push_back(grants_of(phase, spec));
  if (all > 0) work.phases.push_back(phase);
  work.packed = {1, 1};
}

}  // namespace

void set_batches(PhaseWork& phase, std::int64_t window) {
  std::int64_t before = 0, all = 0;
  for (const EqualMessages& equal : phase.by_size) all += equal.messages;
  const std::int64_t size = window == 0 ? std::max<std::int64_t>(all, 1) : window;
  phase.batches = quotient_up(all, size);
  for (EqualMessages& equal : phase.by_size) {
    const std::int64_t end = before + equal.messages;
    equal.firsts = quotient_up(end, size) - quotient_up(before, size);
    equal.lasts = end / size - before / size + (equal.messages > 0 && end == all && all % size != 0);
    before = end;
  }
}

void spread_batches(PhaseWork& phase, std::int64_t batches) {
  std::int64_t before = 0, all = 0;
  for (const EqualMessages& equal : phase.by_size) all += equal.messages;
  phase.batches = std::min(batches, all);
  for (EqualMessages& equal : phase.by_size) {
    const std::int64_t end = before + equal.messages;
    if (all > 0) equal.firsts = quotient_up(end * phase.batches, all) - quotient_up(before * phase.batches, all);
    if (all > 0) equal.lasts = end * phase.batches / all - before * phase.batches / all;
    before = end;
  }
}

Copies copies_of(const Schedule& schedule, const Step& step) {
  Copies sum;
  for (const Copy& copy : schedule.copies_of(step)) {
    const bool together = copy.from.count == 1 || (copy.from.stride == 1 && copy.to.stride == 1);
    sum.blocks += copy.from.count;
    sum.pieces += together ? 1 : copy.from.count;
  }
  return sum;
}

TypedCopies typed_copies_of(const Schedule& schedule, const Step& step) {
  TypedCopies sum;
  const auto add = [&](const Message& message) {
    double blocks = 0, pieces = 0;
    for (const Run& run : schedule.runs_of(message)) blocks += run.count, pieces += run.stride == 1 ? 1 : run.count;
    if (pieces > 1) sum.blocks += blocks, sum.pieces += pieces, sum.messages += 1;
  };
  std::ranges::for_each(schedule.sends_of(step), add);
  std::ranges::for_each(schedule.receives_of(step), add);
  return sum;
}

void StepCopies::keep_most(const Schedule& schedule, const Step& step) {
  const Copies now = copies_of(schedule, step);
  const TypedCopies now_typed = typed_copies_of(schedule, step);
  for (const auto number : {&Copies::blocks, &Copies::pieces}) {
    copies.*number = std::max(copies.*number, now.*number);
    typed.*number = std::max(typed.*number, now_typed.*number);
  }
  typed.messages = std::max(typed.messages, now_typed.messages);
}

void count_work(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work) {
  work.phases.clear();
  work.packed = work.typed = {};
  work.typed_messages = 0;
  work.ranks = shape.ranks;
  work.shared = spec.intra != Transport::mpi;
  work.rows = spec.intra == Transport::rows;
  work.sliding = spec.completion != Completion::all && spec.window != 0;
  work.segment_bytes = spec.segment_bytes;
  if (!has_closed_form(spec)) return tally_schedules(spec, shape, nodes, work);
  if (spec.family == Family::direct) return count_direct(spec, shape, nodes, work);
  if (spec.family == Family::leaders) return leader_work(spec, shape, work);
  const Extent grid = extent(spec.dimensions, shape);
  if (grid.places == shape.ranks) grid_work(spec, shape, grid.sizes, nodes, work);
  else proxy_work(spec, shape, nodes, work);
  add_rotations(spec, shape.ranks, grid.sizes, work);
}

}  // namespace swapmeet
