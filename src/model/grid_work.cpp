/// The work of exchanges on grids without proxies (algorithms/bruck.cpp). It is a closed form for nodes of consecutive
/// ranks, since schedules would take too long: for one spec on 16384 ranks, the schedule of a rank takes 1 to 6 ms, and
/// some hundred specs are priced for a choice. On other nodes the messages of a digit are counted one by one.
///
/// If the ranks of a node are consecutive, a message to the rank s further on stays within a node of Q ranks if its
/// sender is one of the first Q - s ranks of the node, or if it wraps around the n places of the dimension and its
/// sender is one of the last Q - (n - s) ranks.                                   [checked by tests/core/work_test.py]
#include <algorithm>
#include <array>
#include <numeric>

#include "model/unlike_ranks.hpp"

namespace swapmeet {

namespace {

/// The values first..last of a digit, which all have the same number of blocks.
struct Values {
  std::int64_t first, last, offsets;  ///< offsets: number with such a value along the dimension
  std::int64_t count() const { return std::max<std::int64_t>(0, last - first + 1); }
};

/// A digit of a grid without proxies, and the blocks that move by it.
struct Move {
  Digit digit;
  std::int64_t ranks, size, stride;  ///< P; places of the dimension; places of all previous dimensions
  std::array<Values, 3> values{};

  Move(const Digit& which, std::int64_t p, std::int64_t n, std::int64_t inner)
      : digit(which), ranks(p), size(n), stride(inner) {
    const std::int64_t b = digit.weight, r = digit.radix, runs = n / (b * r), rest = n % (b * r);
    // Values below `full` have one more full run. Value `full` has one more run, if anything is left for it.
    const std::int64_t full = rest / b, some = rest % b != 0 ? full : 0;
    values[0] = {1, full - 1, (runs + 1) * b};
    values[1] = {std::max<std::int64_t>(some, 1), some, runs * b + rest % b};
    values[2] = {std::max({full, some + 1, std::int64_t{1}}), r - 1, runs * b};
  }

  std::int64_t per_offset() const { return ranks / size; }
  std::int64_t length() const { return size * stride; }  ///< number of places within which the blocks move
  /// All messages of a rank.
  Volume sent() const { return {digit.radix - 1, (size - offsets_with(digit, size, 0)) * per_offset()}; }

  /// Calls use(places, blocks) for each message of a rank: it goes so many places ahead.
  void each_message(auto use) const {
    for (const Values& some : values)
      for (std::int64_t z = some.first; z <= some.last; ++z)
        use(z * digit.weight * stride, some.offsets * per_offset());
  }
};

/// Messages that stay within nodes.
struct Staying {
  Volume of_rank;  ///< of the rank with the fewest
  Volume of_node;  ///< of all ranks of a largest node
};

/// Returns the messages that stay within a node of `ranks` consecutive ranks. move.length() is the number of all ranks,
/// or a multiple of the size of all nodes.
Staying staying(const Move& move, std::int64_t ranks) {
  std::vector<Volume> more(static_cast<std::size_t>(ranks) + 1);  // of each rank, than of the previous rank
  move.each_message([&](std::int64_t ahead, std::int64_t blocks) {
    const std::int64_t behind = move.length() - ahead;
    if (ahead < ranks) more[0].add(1, blocks), more[static_cast<std::size_t>(ranks - ahead)].add(-1, -blocks);
    if (behind < ranks) more[static_cast<std::size_t>(behind)].add(1, blocks);
  });
  more.pop_back();
  Staying all{move.sent(), {}};
  Volume now;
  for (const Volume& change : more) {
    now.add(change.messages, change.blocks);
    all.of_rank = {std::min(all.of_rank.messages, now.messages), std::min(all.of_rank.blocks, now.blocks)};
    all.of_node.add(now.messages, now.blocks);
  }
  return all;
}

/// Returns the phase of a digit of which these messages stay within nodes. A largest node has `ranks` ranks.
PhaseWork phase_of(const Move& move, const Staying& staying, std::int64_t ranks) {
  const Volume sent = move.sent(), &rank = staying.of_rank, &node = staying.of_node;
  return {{rank.messages, rank.blocks, static_cast<double>(node.messages), static_cast<double>(node.blocks)},
          {sent.messages - rank.messages, sent.blocks - rank.blocks,
           static_cast<double>(ranks * sent.messages - node.messages),
           static_cast<double>(ranks * sent.blocks - node.blocks)}};
}

/// Counts the messages of a digit on any nodes. If nodes are regular, the pattern of places repeats: its period is the
/// least common multiple of a node and the dimension, and only one period is counted.
PhaseWork tallied(const Move& move, const Arrangement& grid, const Nodes& nodes) {
  const std::int64_t length = move.length(),
                     places = nodes.regular() ? std::lcm(length, std::int64_t{nodes.largest()}) : move.ranks;
  PhaseTally tally(places, nodes);
  move.each_message([&](std::int64_t ahead, std::int64_t blocks) {
    for (std::int64_t place = 0; place < places; ++place) {
      const std::int64_t to = place % length + ahead < length ? place + ahead : place + ahead - length;
      tally.add(grid.rank_at[static_cast<std::size_t>(place)], grid.rank_at[static_cast<std::size_t>(to)], 1, blocks);
    }
  });
  PhaseWork phase = tally.take();
  phase.within.messages = move.sent().messages - phase.between.messages;  // of the rank that sends most to other nodes
  phase.within.blocks = move.sent().blocks - phase.between.blocks;
  return phase;
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
    const std::int64_t weight = move.digit.weight, runs = (some.offsets + weight - 1) / weight * outer;
    const bool cut = weight > 1 && some.offsets % weight == 1 && move.stride == 1;  // the last run has one block
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

}  // namespace

void grid_work(const Spec& spec, const Shape& shape, const std::vector<std::int32_t>& sizes, const Nodes& nodes,
               Work& work) {
  const bool along_nodes = spec.dimensions.kind == Dimensions::Kind::nodes, regular = nodes.regular();
  const std::int64_t p = shape.ranks, q = nodes.largest();
  std::vector<std::int64_t> strides{1};
  for (const std::int32_t size : sizes) strides.push_back(strides.back() * size);
  for (const Digit& digit : digits_along(spec.radices, sizes)) {
    const Move move(digit, p, sizes[digit.dimension], strides[digit.dimension]);
    const std::int64_t length = move.length();
    const Volume sent = move.sent();
    PhaseWork phase;
    if (nodes.count() == 1 || (along_nodes && digit.dimension == 0) || (regular && q % length == 0))
      phase = phase_of(move, {sent, {q * sent.messages, q * sent.blocks}}, q);
    else if (along_nodes || (regular && move.stride % q == 0)) phase = phase_of(move, {}, q);
    else if (nodes.consecutive() && (length == p || (regular && length % q == 0)))
      phase = phase_of(move, {staying(move, nodes.smallest()).of_rank, staying(move, q).of_node}, q);
    else phase = tallied(move, arrange(spec.dimensions, shape), nodes);
    for (std::size_t i = 0; i < 3; ++i) {
      const Values& some = move.values[i];
      phase.by_size[i] = {some.count(), static_cast<double>(some.offsets * move.per_offset())};
    }
    if (spec.grouping == Grouping::staggered && digit.dimension + 1 == sizes.size()) stagger(phase);
    set_batches(phase, spec.window);
    add_copies(spec, move, work.shared && phase.between.messages == 0, work);
    work.phases.push_back(phase);
  }
}

}  // namespace swapmeet
