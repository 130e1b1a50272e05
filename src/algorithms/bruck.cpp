/// Store-and-forward exchange on a grid of ranks: Bruck's algorithm in every radix, TRA, TRA2, grids and tori.
///
/// A block is identified by its offset: destination place minus source place, in each dimension modulo its size. The
/// digits of the offset (of dimension 1, least significant first, then of dimension 2, ...) determine its way: for the
/// digit of weight b with value z, the block moves z·b places forward along the digit's dimension. So a place holds at
/// most one block of each offset at any time. All blocks whose current digit has the value z go to one peer in one
/// message. The r-1 messages of a digit are independent, so a digit is a phase. The slot of a block, where it is
/// stored, is its offset. The slots of each place that the rank holds follow those of the place before.
///
/// With paths=rotated, the offsets are divided into as many classes as there are dimensions with a digit, that is, with
/// more than one place. Each class begins with another dimension. A phase then has a digit of each class, so that links
/// of all dimensions are busy at once. With digits=balanced, some values stand for moves backward
/// (topology/arrangement.hpp).
///                                                                       [Proof: docs/proofs.md, "Digits and paths"]
///
/// Source:  bruck1997, tra; layouts: schedule/placement.hpp
/// Cost:    α·K + β·D·S with K and D of model/counts.hpp     [checked by tests/core/counts_test.py]
/// Needs:   any grid.
/// Scratch: at most M blocks staged for departing messages and M for arriving ones, with M = P - ceil(P/r) (on a grid:
///          the largest P - P/n·ceil(n/r)). With MPI datatypes only arriving blocks are staged; with zero-copy, none.
///          The layouts basic and zero-copy need P blocks more. With proxies (topology/arrangement.hpp) a rank needs
///          P' blocks more for each place that it holds, where P' is the number of places.
///                                                           [checked by tests/core/counts_test.py]
///
/// Each message has a position, the same at both ends. It is the value of the digit (with paths=rotated: the number of
/// the hop, see DigitWalk::enter()). Between nodes, with order=topology and order=groups, it is the turn of the two
/// nodes, counted from 1. Turns are the slots of SlotRows, which have nothing to do with the slots of blocks. Nodes are
/// then numbered by their coordinates, that is, in the order of their first ranks (topology/endpoints.hpp).
#include <algorithm>
#include <utility>

#include "algorithms/digit_walk.hpp"
#include "algorithms/families.hpp"
#include "algorithms/group_order.hpp"
#include "algorithms/phase.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

namespace {

/// The slots of the blocks that leave a place in one phase, or arrive there, grouped by hop.
struct Bundles {
  std::vector<Run> runs;
  std::vector<std::size_t> first;     ///< for each hop, its first run in `runs`; then the end
  std::vector<std::uint8_t> arrives;  ///< for each hop: whether all its blocks reach their destinations (Message::last)

  std::span<const Run> of(std::size_t hop) const {
    return std::span(runs).subspan(first[hop], first[hop + 1] - first[hop]);
  }
};

/// A message between two places.
struct PlacedMessage : PositionedMessage {
  std::int32_t from = 0, to = 0;
  bool staggered = false;  ///< sent as one message for each block
};

/// The ranks around a place: for each offset, the rank that far ahead, and the rank that far behind. -1: the place is a
/// proxy.
struct RanksAround {
  std::vector<Rank> ahead, behind;
};

class Bruck {
 public:
  Bruck(const Spec& spec, const Shape& shape, Rank rank)
      : spec_(spec), rank_(rank), grid_(arrange(spec.dimensions, shape)), flow_(shape, rank),
        irregular_(grid_.places() != shape.ranks), walk_(spec, grid_, irregular_) {
    for (std::int32_t place = 0; place < grid_.places(); ++place)
      if (grid_.rank_at[static_cast<std::size_t>(place)] == rank) places_.push_back(place);
    turns_ = slots_of(spec, shape, walk_.node_of(places_.front()));
    for (const std::int32_t place : places_) around_.push_back({ranks_from(place, 1), ranks_from(place, -1)});
    flow_.reserve(walk_.hop_count() * places_.size());
  }

  SlotFlow make() && {
    const std::size_t slots = places_.size() * static_cast<std::size_t>(grid_.places());
    std::vector<Rank> destination_at_start = around_[0].ahead, source_at_end = around_[0].behind;
    destination_at_start.resize(slots, -1);  // no block begins or ends at a proxy
    source_at_end.resize(slots, -1);
    flow_.slots(std::move(destination_at_start), std::move(source_at_end));
    for (std::size_t phase = 0; phase < walk_.phases(); ++phase) add_phase(phase);
    return std::move(flow_).finish();
  }

 private:
  Rank rank_at(std::int32_t place) const { return grid_.rank_at[static_cast<std::size_t>(place)]; }

  std::vector<Rank> ranks_from(std::int32_t place, std::int32_t sign) const {
    std::vector<std::int32_t> all = grid_.all_shifted(place, sign);
    for (std::int32_t& other : all) other = irregular_ && grid_.is_proxy(other) ? -1 : rank_at(other);
    return all;
  }

  /// Whether this rank's place number `held` has a block of this offset that has covered the part `covered` of its way.
  /// Neither the source nor the destination of a block is a proxy.
  bool exists(std::size_t held, std::int32_t offset, std::int32_t covered) const {
    return !irregular_ || (around_[held].behind[static_cast<std::size_t>(covered)] >= 0 &&
                           around_[held].ahead[static_cast<std::size_t>(grid_.shifted(offset, covered, -1))] >= 0);
  }

  /// Whether blocks of this offset belong to the second part of a message. Each part comes from one buffer, according
  /// to the layout. The part depends only on the offset and the phase, so both ends agree.
  bool in_second_part(std::int32_t offset) const {
    if (spec_.layout == Layout::zero_rotation) return walk_.hops_made(offset) != 0;
    return spec_.layout == Layout::zero_copy && walk_.hops_left(offset) % 2 != 0;
  }

  /// Returns the blocks that leave this rank's place number `held` in this phase, or arrive there. With layout=basic
  /// the slots ascend, because this layout stores the blocks of a place in the order of their slots. With the other
  /// layouts they descend, so that the sources of blocks ascend.
  Bundles bundles(std::size_t held, bool outgoing) const {
    const std::int32_t n = grid_.places(), first_slot = static_cast<std::int32_t>(held) * n;
    const std::size_t hops = walk_.hops().size();
    const auto takes_part = [&](std::int32_t offset, std::int32_t hop) {
      if (hop == 0 || !irregular_) return hop != 0;
      const std::int32_t covered = walk_.covered(offset), shift = walk_.hops()[static_cast<std::size_t>(hop)].shift;
      return exists(held, offset, outgoing ? covered : grid_.shifted(covered, shift, 1));
    };
    Bundles all{{}, {}, std::vector<std::uint8_t>(hops, 1)};
    std::vector<std::uint32_t> next(hops + 1);  // at [hop + 1], the number of blocks of each hop
    for (std::int32_t offset = 0; offset < n; ++offset) {
      const std::int32_t hop = walk_.hop_of(offset);
      if (takes_part(offset, hop)) ++next[static_cast<std::size_t>(hop) + 1];
    }
    for (std::size_t hop = 0; hop < hops; ++hop) next[hop + 1] += next[hop];  // now, at [hop], where its slots begin
    std::vector<std::int32_t> slots(next.back());
    const auto add = [&](std::int32_t offset, bool second_part) {
      const std::int32_t hop = walk_.hop_of(offset);
      if (hop == 0 || in_second_part(offset) != second_part || !takes_part(offset, hop)) return;
      slots[next[static_cast<std::size_t>(hop)]++] = first_slot + offset;
      all.arrives[static_cast<std::size_t>(hop)] &= walk_.hops_left(offset) == 1;
    };
    const int parts = spec_.layout == Layout::zero_rotation || spec_.layout == Layout::zero_copy ? 2 : 1;
    for (int part = 0; part < parts; ++part) {
      if (spec_.layout == Layout::basic)
        for (std::int32_t offset = 0; offset < n; ++offset) add(offset, part == 1);
      else
        for (std::int32_t offset = n; offset-- > 0;) add(offset, part == 1);
    }
    RunList joined;
    std::uint32_t i = 0;
    for (std::size_t hop = 0; hop < hops; ++hop) {  // now the slots of a hop end at next[hop]
      const bool apart = staggered(hop);
      all.first.push_back(all.runs.size());
      joined.clear();
      for (; i < next[hop]; ++i)
        if (apart) all.runs.push_back(run_of(slot(slots[i])));
        else joined.add(slot(slots[i]));
      all.runs.insert(all.runs.end(), joined.runs().begin(), joined.runs().end());
    }
    all.first.push_back(all.runs.size());
    return all;
  }

  bool is_last_dimension(const Hop& hop) const { return hop.digit->dimension + 1 == grid_.sizes.size(); }

  /// Whether each block with this hop has a message of its own.
  bool staggered(std::size_t hop) const {
    return spec_.grouping == Grouping::staggered && hop != 0 && is_last_dimension(walk_.hops()[hop]);
  }

  /// Returns the turns in which nodes exchange in the current phase. nullptr: messages are sent in the order of hops.
  const SlotRows* node_turns() const {
    return walk_.hops().size() > 1 && is_last_dimension(walk_.hops()[1]) ? turns_.get() : nullptr;
  }

  std::int32_t position_of(std::int32_t hop, std::int32_t from, std::int32_t to, const SlotRows* turns,
                           bool outgoing) const {
    if (!turns) return hop;
    const std::int32_t sender = walk_.node_of(from), receiver = walk_.node_of(to);
    return 1 + (outgoing ? turns->sends_of(sender)[static_cast<std::size_t>(receiver)]
                         : turns->receives_of(receiver)[static_cast<std::size_t>(sender)]);
  }

  /// Returns the messages that leave this rank's places (`outgoing`), or arrive there, sorted by position, then by the
  /// place that they leave.
  std::vector<PlacedMessage> messages(const std::vector<Bundles>& bundles, bool outgoing) const {
    std::vector<PlacedMessage> all;
    const std::vector<Hop>& hops = walk_.hops();
    all.reserve(places_.size() * hops.size());
    const SlotRows* const turns = node_turns();
    for (std::size_t held = 0; held < places_.size(); ++held)
      for (std::size_t hop = 1; hop < hops.size(); ++hop) {
        const std::span<const Run> blocks = bundles[held].of(hop);
        if (blocks.empty()) continue;
        const std::int32_t other = grid_.shifted(places_[held], hops[hop].shift, outgoing ? 1 : -1);
        PlacedMessage& message = all.emplace_back();
        message.peer = rank_at(other);
        message.from = outgoing ? places_[held] : other;
        message.to = outgoing ? other : places_[held];
        message.position = position_of(static_cast<std::int32_t>(hop), message.from, message.to, turns, outgoing);
        message.last = bundles[held].arrives[hop] != 0;
        message.blocks = blocks;
        message.staggered = staggered(hop);
      }
    std::ranges::stable_sort(all, [](const PlacedMessage& a, const PlacedMessage& b) {
      return std::pair(a.position, a.from) < std::pair(b.position, b.from);
    });
    return all;
  }

  /// Returns the messages with other ranks. A staggered message becomes one message for each block.
  std::vector<PositionedMessage> with_others(const std::vector<PlacedMessage>& all) const {
    std::vector<PositionedMessage> remote;
    remote.reserve(all.size());
    for (const PlacedMessage& message : all) {
      if (message.peer == rank_) continue;
      const std::size_t length = message.staggered ? 1 : message.blocks.size();
      for (std::size_t i = 0; i < message.blocks.size(); i += length) {
        remote.push_back(message);
        remote.back().blocks = message.blocks.subspan(i, length);
      }
    }
    return remote;
  }

  /// Moves blocks between two places of this rank, for which no messages are needed. Moves and messages of a phase read
  /// their slots as they are when the phase begins, so their order does not matter.
  void move_between_places(const std::vector<PlacedMessage>& outgoing) {
    for (const PlacedMessage& message : outgoing) {
      if (message.peer != rank_) continue;
      const auto target = std::ranges::find(places_, message.to) - places_.begin();
      std::vector<Run> to(message.blocks.begin(), message.blocks.end());
      for (Run& run : to) run.first = run.first % grid_.places() + static_cast<std::int32_t>(target) * grid_.places();
      flow_.move(message.blocks, to);
    }
  }

  void add_phase(std::size_t phase) {
    walk_.enter(phase);
    std::vector<Bundles> leaving, arriving;
    for (std::size_t held = 0; held < places_.size(); ++held) {
      leaving.push_back(bundles(held, true));
      if (irregular_) arriving.push_back(bundles(held, false));  // else blocks arrive in the slots that others leave
    }
    const std::vector<PlacedMessage> outgoing = messages(leaving, true),
                                     incoming = messages(irregular_ ? arriving : leaving, false);
    flow_.phase(/*packs=*/true);
    move_between_places(outgoing);
    // If ranks have different numbers of messages at a position, batches of messages could wait for one another in a
    // cycle. The window then counts positions. With proxies it does so for every completion: a rank may have several
    // messages at one position, and the proof for complete=any and test is for one (docs/proofs.md, "Positions").
    const SlotRows* const turns = node_turns();
    const bool by_position = irregular_ || (turns && spec_.completion == Completion::all);
    add_rounds(flow_, spec_, turns ? turns->slots : static_cast<std::int32_t>(walk_.hops().size()) - 1, by_position,
               with_others(outgoing), with_others(incoming));
    walk_.leave();
  }

  const Spec& spec_;
  Rank rank_;
  Arrangement grid_;
  FlowBuilder flow_;
  bool irregular_;  ///< whether some places are proxies
  DigitWalk walk_;
  std::shared_ptr<const SlotRows> turns_;  ///< turns of nodes; null if there are none
  /// Places of this rank in ascending order: its own, then its proxies, which are appended to each group.
  std::vector<std::int32_t> places_;
  std::vector<RanksAround> around_;  ///< for each of these places
};

SlotFlow bruck(const Spec& spec, const Shape& shape, Rank rank) { return Bruck(spec, shape, rank).make(); }

/// Returns why the groups of `dimensions` differ too much in size, or "" if they do not. The ranks of a small group
/// hold proxies for the places that it lacks. Work and memory grow with the places that one rank holds times all
/// places: at most 64 times the work without proxies is accepted, and any work on small grids. Both limits are chosen,
/// not measured.
std::string too_unequal(const Dimensions& dimensions, const Shape& shape) {
  const Extent grid = extent(dimensions, shape);
  if (grid.held == 1 || grid.held * grid.places <= std::max<std::int64_t>(64 * std::int64_t{shape.ranks}, 4096))
    return "";
  return "its nodes or groups are too unequal: of " + std::to_string(grid.places) + " places, one rank would hold " +
         std::to_string(grid.held);
}

/// Returns why nodes cannot exchange in the order of the topology or of groups. Returns "" if they can or if the order
/// is order=shift.
std::string no_order(const Spec& spec, const Shape& shape) {
  using Kind = Dimensions::Kind;
  if (spec.order == Order::shift) return "";
  const std::string order = spec.order == Order::topology ? "order=topology" : "order=groups";
  const Dimensions& dimensions = spec.dimensions;
  const std::size_t levels =
      dimensions.kind == Kind::groups ? dimensions.sizes.size() : std::max<std::size_t>(shape.hierarchy.size(), 1);
  if (dimensions.kind != Kind::nodes && dimensions.kind != Kind::groups)
    return order +
           " is for exchanges between nodes here: it needs dims=nodes, or groups of one size (or the family "
           "direct)";
  if (spec.paths == Paths::rotated) return order + " is for paths=ordered";
  if (levels != 1) return order + " needs nodes in one level, and there are " + std::to_string(levels);
  constexpr std::size_t of_nodes = 1;  // their dimension; dimension 0 is that of the ranks of a node
  if (digits_of(spec.radices, of_nodes, extent(dimensions, shape).sizes.back()).size() > 1)
    return order + " needs a direct exchange between nodes: r2=all";
  return too_unequal_groups(spec, shape);
}

std::string unsuitable_grid(const Spec& spec, const Shape& shape) {
  const Dimensions& dimensions = spec.dimensions;
  if (dimensions.kind == Dimensions::Kind::given) {
    std::int64_t product = 1;
    for (const std::int32_t size : dimensions.sizes) product = std::min<std::int64_t>(product * size, INT32_MAX);
    if (product != shape.ranks)
      return "the product of its dims is " + std::to_string(product) + ", but there are " +
             std::to_string(shape.ranks) + " ranks";
  }
  if (dimensions.kind == Dimensions::Kind::groups)
    for (std::size_t i = 1; i < dimensions.sizes.size(); ++i)
      if (dimensions.sizes[i] % dimensions.sizes[i - 1] != 0)
        return "groups of " + std::to_string(dimensions.sizes[i]) + " ranks cannot be made of groups of " +
               std::to_string(dimensions.sizes[i - 1]);
  if (const std::string problem = too_unequal(dimensions, shape); !problem.empty()) return problem;
  constexpr Rank most_uneven = 256;  // costs of such exchanges are counted in the schedules of all ranks
  const bool uneven = extent(dimensions, shape).places != shape.ranks;
  if (uneven && shape.ranks > most_uneven && (spec.digits != Digits::standard || spec.paths != Paths::ordered))
    return "digits=balanced and paths=rotated need groups of equal size on more than " + std::to_string(most_uneven) +
           " ranks";
  return no_order(spec, shape);
}

/// See Algorithm::alike_on.
std::optional<Arrangement> grid_of(const Spec& spec, const Shape& shape) {
  if (spec.order != Order::shift || extent(spec.dimensions, shape).places != shape.ranks) return std::nullopt;
  return arrange(spec.dimensions, shape);
}

}  // namespace

extern const Algorithm bruck_family{bruck, unsuitable_grid, grid_of};

}  // namespace swapmeet
