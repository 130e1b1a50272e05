#include "model/work.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "model/counts.hpp"
#include "model/irregular.hpp"
#include "model/tallied_work.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

namespace {

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns first + ... + last.
double sum_of(std::int64_t first, std::int64_t last) {
  return first > last ? 0.0 : static_cast<double>(first + last) * static_cast<double>(last - first + 1) / 2;
}

/// Sets the batches of a phase whose messages are sorted by size: `window` messages each.
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

/// The values first..last of a digit, which all have the same number of blocks.
struct Values {
  std::int64_t first, last, offsets;  ///< offsets: number with such a value along the dimension
  bool partial;                       ///< whether the last run of consecutive offsets is shorter than the others
  std::int64_t count() const { return std::max<std::int64_t>(0, last - first + 1); }
};

/// A digit of a grid without proxies, and the blocks that move by it.
struct Move {
  Digit digit;
  std::int64_t ranks, size, stride;  ///< P; places of the dimension; places of all previous dimensions
  std::array<Values, 3> values{};

  Move(const Digit& which, std::int64_t p, std::int64_t n, std::int64_t inner)
      : digit(which), ranks(p), size(n), stride(inner) {
    const std::int64_t b = digit.weight, r = digit.radix;
    // `full` is the last value with one more full run.
    const std::int64_t runs = n / (b * r), rest = n % (b * r), full = rest / b - 1;
    const std::int64_t some = rest % b != 0 && rest / b >= 1 && rest / b < r ? rest / b : 0;
    const std::int64_t then = std::max<std::int64_t>({full, some, 0});
    values[0] = {1, std::max<std::int64_t>(full, 0), (runs + 1) * b, false};
    values[1] = {some, some - (some == 0), runs * b + rest % b, true};
    values[2] = {then + 1, r - 1, runs * b, false};
  }

  std::int64_t per_offset() const { return ranks / size; }
  std::int64_t messages() const { return digit.radix - 1; }
  std::int64_t blocks() const { return blocks_to(messages()); }
  /// Returns the number of blocks with the values 1..z.
  std::int64_t blocks_to(std::int64_t z) const {
    std::int64_t sum = 0;
    for (const Values& some : values)
      sum += std::max<std::int64_t>(0, std::min(z, some.last) - some.first + 1) * some.offsets;
    return sum * per_offset();
  }
};

/// Splits the messages of a digit in one dimension, on nodes of consecutive ranks, into those within and between nodes.
/// The rank that sends most to other nodes is on a smallest node. The most messages leave a largest node. On a node of
/// Q ranks, max(0, Q-s) + max(0, Q-(P-s)) ranks send to a rank of the node.
void split_consecutive(const Move& move, const Nodes& nodes, PhaseWork& phase) {
  const std::int64_t p = move.ranks, q = nodes.largest(), least = nodes.smallest(), b = move.digit.weight,
                     last = move.messages();
  std::int64_t inside = 0, inside_blocks = 0;
  if (b < least && last * b > p - least) {  // otherwise some rank sends nothing within its node
    inside = last, inside_blocks = move.blocks();
    for (std::int64_t rank = 0; rank < least; ++rank) {
      const std::int64_t ahead = std::min(last, (least - 1 - rank) / b),
                         wrapped = std::min(last + 1, quotient_up(p - rank, b));
      inside = std::min(inside, ahead + last + 1 - wrapped);
      inside_blocks = std::min(inside_blocks, move.blocks_to(ahead) + move.blocks() - move.blocks_to(wrapped - 1));
    }
  }
  phase.within = {inside, inside_blocks};
  phase.between = {last - inside, move.blocks() - inside_blocks};
  const auto number = [](std::int64_t first, std::int64_t end) {
    return static_cast<double>(std::max<std::int64_t>(0, end - first + 1));
  };
  const auto of_node = static_cast<double>(q), weight = static_cast<double>(b);
  for (const Values& some : move.values) {
    const std::int64_t near = std::min(some.last, (q - 1) / b), far = std::max(some.first, (p - q) / b + 1);
    const double ahead = number(some.first, near) * of_node - sum_of(some.first, near) * weight;
    const double wrapped = number(far, some.last) * static_cast<double>(q - p) + sum_of(far, some.last) * weight;
    const double leaving = number(some.first, some.last) * of_node - ahead - wrapped;
    phase.between.node_messages += leaving;
    phase.between.node_blocks += leaving * static_cast<double>(some.offsets);  // offsets of a single dimension
    phase.within.node_messages += ahead + wrapped;
    phase.within.node_blocks += (ahead + wrapped) * static_cast<double>(some.offsets);
  }
}

/// Splits the messages of a digit on any nodes, rank by rank, for the values whose messages can stay within a node. If
/// nodes are regular, the pattern of places repeats: its period is the least common multiple of a node and the
/// dimension, and only one period is counted.
void split_any(const Move& move, const Arrangement& grid, bool in_order, const Nodes& nodes, PhaseWork& phase) {
  const std::int64_t length = move.size * move.stride;
  const std::int64_t looked_at =
      in_order && nodes.regular() ? std::lcm(length, std::int64_t{nodes.largest()}) : move.ranks;
  std::vector<Tally> sent(static_cast<std::size_t>(looked_at)), received = sent;
  std::vector<Tally> inside(
      static_cast<std::size_t>(looked_at == move.ranks ? nodes.count() : looked_at / nodes.largest()));
  for (std::int64_t z = 1; z < move.digit.radix; ++z) {
    const std::int64_t ahead = z * move.digit.weight * move.stride, behind = length - ahead;
    if (in_order && ahead > nodes.span() && behind > nodes.span()) continue;
    const std::int64_t blocks = offsets_with(move.digit, move.size, z) * move.per_offset();
    for (std::int64_t place = 0; place < looked_at; ++place) {
      const std::int64_t to = place % length + ahead < length ? place + ahead : place - behind;
      const Rank source = grid.rank_at[static_cast<std::size_t>(place)],
                 target = grid.rank_at[static_cast<std::size_t>(to)];
      if (nodes.of(source) != nodes.of(target)) continue;
      sent[static_cast<std::size_t>(source)].add(1, blocks);
      received[static_cast<std::size_t>(target)].add(1, blocks);
      inside[static_cast<std::size_t>(nodes.of(source))].add(1, blocks);
    }
  }
  std::int64_t least = move.messages(), least_blocks = move.blocks();
  for (const std::vector<Tally>* direction : {&sent, &received})
    for (const Tally& rank : *direction) {
      least = std::min(least, rank.messages);
      least_blocks = std::min(least_blocks, rank.blocks);
    }
  phase.within = {least, least_blocks};
  phase.between = {move.messages() - least, move.blocks() - least_blocks};
  for (std::size_t node = 0; node < inside.size(); ++node) {
    const Tally& stay = inside[node];
    const std::int64_t size = nodes.size(static_cast<std::int32_t>(node));
    const auto keep = [](double& most, std::int64_t now) { most = std::max(most, static_cast<double>(now)); };
    keep(phase.within.node_messages, stay.messages);
    keep(phase.within.node_blocks, stay.blocks);
    keep(phase.between.node_messages, size * move.messages() - stay.messages);
    keep(phase.between.node_blocks, size * move.blocks() - stay.blocks);
  }
}

/// Returns the traffic of a digit whose messages all stay within nodes, or all leave them.
PhaseTraffic all_of(const Move& move, const Nodes& nodes) {
  const auto most = static_cast<double>(nodes.largest());
  return {move.messages(), move.blocks(), most * static_cast<double>(move.messages()),
          most * static_cast<double>(move.blocks())};
}

/// Replaces the messages of a phase by one message for each block.
void stagger(PhaseWork& phase) {
  for (PhaseTraffic* traffic : {&phase.within, &phase.between}) {
    traffic->messages = traffic->blocks;
    traffic->node_messages = traffic->node_blocks;
  }
  phase.by_size = {EqualMessages{phase.messages(), 1}};
}

/// Adds the copies of a digit whose messages all use the same transport.
void add_copies(const Spec& spec, const Move& move, bool no_packing, Work& work) {
  const std::int64_t outer = move.ranks / (move.size * move.stride), run = move.digit.weight * move.stride;
  const bool first = run == 1, twin = spec.layout == Layout::zero_copy, zero = spec.layout == Layout::zero_rotation;
  // whether blocks can arrive at their places while departing blocks are still at theirs
  const bool lands = twin || (zero && first);
  for (const Values& some : move.values) {
    if (some.count() == 0) continue;
    const bool cut =
        some.partial &&
        move.size / (std::int64_t{move.digit.weight} * move.digit.radix) * move.digit.weight + 1 == some.offsets &&
        move.stride == 1;
    const std::int64_t runs = quotient_up(some.offsets, move.digit.weight) * outer;
    // The first block of a run has not moved yet, so it is in another buffer.
    const std::int64_t pieces = zero && !first ? 2 * runs - (cut ? outer : 0) : runs;
    const double messages = static_cast<double>(some.count()),
                 blocks = messages * static_cast<double>(some.offsets * move.per_offset());
    const auto add = [&](Copies& copies) {
      copies.blocks += blocks;
      copies.pieces += messages * static_cast<double>(pieces);
    };
    const bool whole = pieces == 1, scattered = spec.packing == Packing::datatype && !whole;
    const bool as_it_lies = whole || spec.packing == Packing::datatype || no_packing;
    const bool at_home = as_it_lies && (lands || (zero && whole && some.offsets * move.per_offset() == 1));
    if (!as_it_lies) add(work.packed);
    if (!at_home) add(work.packed);
    for (const bool once : {scattered && !no_packing, scattered && !no_packing && at_home})
      if (once) add(work.typed), work.typed_messages += messages;
  }
}

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

void count_grid(const Spec& spec, const Shape& shape, const std::vector<std::int32_t>& sizes, const Nodes& nodes,
                Work& work) {
  using Kind = Dimensions::Kind;
  const std::int64_t p = shape.ranks, q = nodes.largest();
  Arrangement grid;
  std::vector<std::int64_t> strides{1};
  for (const std::int32_t size : sizes) strides.push_back(strides.back() * size);
  for (const Digit& digit : digits_along(spec.radices, sizes)) {
    const Move move(digit, p, sizes[digit.dimension], strides[digit.dimension]);
    const bool along_nodes = spec.dimensions.kind == Kind::nodes, regular = nodes.regular();
    PhaseWork phase;
    if (nodes.count() == 1 || (along_nodes && digit.dimension == 0) ||
        (regular && q % (move.stride * move.size) == 0)) {
      phase.within = all_of(move, nodes);
    } else if (along_nodes || (regular && move.stride % q == 0)) {
      phase.between = all_of(move, nodes);
    } else if (nodes.consecutive() && move.size == p) {
      split_consecutive(move, nodes, phase);
    } else {
      if (grid.rank_at.empty()) grid = arrange(spec.dimensions, shape);
      split_any(move, grid, spec.dimensions.kind != Kind::nodes, nodes, phase);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const Values& some = move.values[i];
      phase.by_size[i] = {some.count(), static_cast<double>(some.offsets * move.per_offset())};
    }
    if (spec.grouping == Grouping::staggered && digit.dimension + 1 == sizes.size()) stagger(phase);
    set_batches(phase, spec.window);
    add_copies(spec, move, work.shared && phase.between.messages == 0, work);
    work.phases.push_back(phase);
  }
  add_rotations(spec, p, sizes, work);
}

}  // namespace

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

Nodes::Nodes(const Shape& shape) {
  if (shape.hierarchy.empty() || shape.ranks == 1) {
    sizes_ = {shape.ranks};
    largest_ = smallest_ = shape.ranks, span_ = shape.ranks - 1;
    return;
  }
  std::unordered_map<std::int32_t, std::int32_t> numbers;
  std::vector<Rank> first;
  node_of_.reserve(static_cast<std::size_t>(shape.ranks));
  std::int32_t known = -1, node = -1;  // of the previous rank
  std::size_t stretches = 0;           // number of stretches of consecutive ranks on one node
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const std::int32_t group = shape.hierarchy[0][static_cast<std::size_t>(rank)];
    if (node < 0 || group != known)
      node = numbers.try_emplace(group, static_cast<std::int32_t>(numbers.size())).first->second;
    stretches += rank == 0 || group != known;
    known = group;
    node_of_.push_back(node);
    if (static_cast<std::size_t>(node) == sizes_.size()) sizes_.push_back(0), first.push_back(rank);
    ++sizes_[static_cast<std::size_t>(node)];
    span_ = std::max(span_, rank - first[static_cast<std::size_t>(node)]);
  }
  largest_ = std::ranges::max(sizes_);
  smallest_ = std::ranges::min(sizes_);
  consecutive_ = stretches == sizes_.size();
  regular_ = consecutive_ && largest_ == smallest_;
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
  if (grid.places == shape.ranks) return count_grid(spec, shape, grid.sizes, nodes, work);
  tally_proxies(spec, shape, grid.sizes, nodes, work);
  add_rotations(spec, shape.ranks, grid.sizes, work);
}

}  // namespace swapmeet
