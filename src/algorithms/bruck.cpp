/// Store-and-forward exchange on a grid of ranks: Bruck's algorithm in every radix, TRA, TRA2, grids and tori.
///
/// A block is identified by its offset: destination place minus source place, in each dimension modulo its size. The
/// digits of the offset (of dimension 1, least significant first, then of dimension 2, ...) determine its way: for the
/// digit of weight b with value z, the block moves z·b places forward along the digit's dimension. So a place holds at
/// most one block of each offset at any time. All blocks whose current digit has the value z go to one peer in one
/// message. The r-1 messages of a digit are independent, so a digit is a phase. The slot of a block is its offset,
/// counted separately for each place that the rank holds.
///
/// With paths=rotated, the offsets are divided into as many classes as there are dimensions, and each class begins with
/// another dimension. A phase then has a digit of each class, so that links of all dimensions are busy at once. With
/// digits=balanced, blocks move forward and backward (topology/arrangement.hpp).
///                                                                       [Proof: docs/proofs.md, "Digits and paths"]
///
/// Source:  bruck1997, tra; layouts: schedule/placement.hpp
/// Cost:    α·K + β·D·S with K and D of model/counts.hpp     [checked by tests/core/counts_test.py]
/// Needs:   any grid.
/// Scratch: at most M blocks staged for departing messages and M for arriving ones, with M = P - ceil(P/r) (on a grid:
///          the largest P - P/n·ceil(n/r)). With MPI datatypes only arriving blocks are staged; with zero-copy, none.
///          The layouts basic and zero-copy need P blocks more. With proxy slots (topology/arrangement.hpp) a rank
///          needs P' blocks more for each place that it holds, where P' is the number of places.
///                                                           [checked by tests/core/counts_test.py]
///
/// Each message has a position, the same at both ends. It is the value of the digit (with paths=rotated: the number of
/// the hop, see DigitWalk::enter()). Between nodes, with order=topology and order=groups, it is the slot of the two nodes. Nodes
/// are then numbered by their coordinates, that is, in the order of their first ranks (topology/endpoints.hpp).
#include <algorithm>
#include <utility>

#include "algorithms/digit_walk.hpp"
#include "algorithms/families.hpp"
#include "algorithms/group_order.hpp"
#include "algorithms/phase.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

namespace {

/// Blocks that leave a place in one phase, or arrive there, as slots of the rank grouped by hop.
struct Bundles {
  std::vector<Run> runs;
  std::vector<std::size_t> first;  ///< for each hop, its first run in `runs`; then the end
  std::vector<std::uint8_t> last;  ///< for each hop: whether its blocks have no later digit to move by

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
    order_ = slots_of(spec, shape, places_.front() / walk_.last_stride());
    for (const std::int32_t place : places_) around_.push_back({ranks_from(place, 1), ranks_from(place, -1)});
    flow_.reserve(walk_.hops_of_all_phases() * places_.size());
  }

  SlotFlow make() && {
    const std::size_t slots = places_.size() * static_cast<std::size_t>(grid_.places());
    std::vector<Rank> first_own = around_[0].ahead, last_source = around_[0].behind;
    first_own.resize(slots, -1);
    last_source.resize(slots, -1);
    flow_.slots(std::move(first_own), std::move(last_source));
    for (std::size_t phase = 0; phase < walk_.phases(); ++phase) exchange(phase);
    return std::move(flow_).finish();
  }

 private:
  Rank rank_at(std::int32_t place) const { return grid_.rank_at[static_cast<std::size_t>(place)]; }

  std::vector<Rank> ranks_from(std::int32_t place, std::int32_t sign) const {
    std::vector<std::int32_t> all = grid_.all_shifted(place, sign);
    for (std::int32_t& other : all) other = irregular_ && grid_.is_proxy(other) ? -1 : rank_at(other);
    return all;
  }

  /// Whether this rank's place number `held` has a block of this offset that has covered the part `done` of its way.
  /// Neither the source nor the destination of a block is a proxy.
  bool exists(std::size_t held, std::int32_t offset, std::int32_t done) const {
    return !irregular_ || (around_[held].behind[static_cast<std::size_t>(done)] >= 0 &&
                           around_[held].ahead[static_cast<std::size_t>(grid_.shifted(offset, done, -1))] >= 0);
  }

  /// Whether blocks of this offset belong to the second part of a message. Each part comes from one buffer, according
  /// to the layout. Both ends know this key.
  bool second_group(std::int32_t offset) const {
    if (spec_.layout == Layout::zero_rotation) return walk_.moves_before(offset) != 0;
    return spec_.layout == Layout::zero_copy && walk_.moves_left(offset) % 2 != 0;
  }

  /// Returns the blocks that leave this rank's place number `held` in this phase, or arrive there. With layout=basic
  /// the slots ascend, because slots are the places of blocks. With the other layouts they descend, so that the sources
  /// of blocks ascend.
  Bundles bundles(std::size_t held, bool outgoing) const {
    const std::int32_t n = grid_.places(), first_slot = static_cast<std::int32_t>(held) * n;
    const std::size_t hops = walk_.hops().size();
    const auto moves_here = [&](std::int32_t offset, std::int32_t hop) {
      if (hop == 0 || !irregular_) return hop != 0;
      const std::int32_t done = walk_.done(offset), move = walk_.hops()[static_cast<std::size_t>(hop)].move;
      return exists(held, offset, outgoing ? done : grid_.shifted(done, move, 1));
    };
    Bundles all{{}, {}, std::vector<std::uint8_t>(hops, 1)};
    std::vector<std::uint32_t> next(hops + 1);  // for each hop, the next index in `slots`
    for (std::int32_t offset = 0; offset < n; ++offset) {
      const std::int32_t hop = walk_.hop_of(offset);
      if (moves_here(offset, hop)) ++next[static_cast<std::size_t>(hop) + 1];
    }
    for (std::size_t hop = 0; hop < hops; ++hop) next[hop + 1] += next[hop];
    std::vector<std::int32_t> slots(next.back());
    const auto add = [&](std::int32_t offset, bool group) {
      const std::int32_t hop = walk_.hop_of(offset);
      if (hop == 0 || second_group(offset) != group || !moves_here(offset, hop)) return;
      slots[next[static_cast<std::size_t>(hop)]++] = first_slot + offset;
      all.last[static_cast<std::size_t>(hop)] &= walk_.moves_left(offset) == 1;
    };
    const bool grouped = spec_.layout == Layout::zero_rotation || spec_.layout == Layout::zero_copy;
    for (int group = 0; group <= grouped; ++group) {
      if (spec_.layout == Layout::basic)
        for (std::int32_t offset = 0; offset < n; ++offset) add(offset, group == 1);
      else
        for (std::int32_t offset = n; offset-- > 0;) add(offset, group == 1);
    }
    RunList together;
    for (std::size_t hop = 0, i = 0; hop < hops; ++hop) {
      const bool apart = staggered(hop);
      all.first.push_back(all.runs.size());
      for (together.clear(); i < next[hop]; ++i)
        if (apart) all.runs.push_back(run_of(slot(slots[i])));
        else together.add(slot(slots[i]));
      all.runs.insert(all.runs.end(), together.runs().begin(), together.runs().end());
    }
    all.first.push_back(all.runs.size());
    return all;
  }

  /// Whether each block with this hop has a message of its own.
  bool staggered(std::size_t hop) const {
    return spec_.grouping == Grouping::staggered && hop != 0 &&
           walk_.hops()[hop].digit->dimension + 1 == grid_.sizes.size();
  }

  /// Returns the order of slots in which nodes exchange in the current phase. nullptr: messages are sent in the order
  /// of hops.
  const SlotRows* order() const {
    const std::size_t dimension = walk_.hops().size() == 1 ? 0 : walk_.hops()[1].digit->dimension;
    const bool outermost = dimension > 0 && dimension + 1 == grid_.sizes.size();
    return outermost ? order_.get() : nullptr;
  }

  std::int32_t position_of(std::int32_t hop, std::int32_t from, std::int32_t to, const SlotRows* order,
                           bool outgoing) const {
    if (!order) return hop;
    const std::int32_t sender = from / walk_.last_stride(), receiver = to / walk_.last_stride();  // nodes
    return 1 + (outgoing ? order->sends_of(sender)[static_cast<std::size_t>(receiver)]
                         : order->receives_of(receiver)[static_cast<std::size_t>(sender)]);
  }

  /// Returns the messages that leave this rank's places (`outgoing`), or arrive there, sorted by position, then by the
  /// place that they leave.
  std::vector<PlacedMessage> messages(const std::vector<Bundles>& bundles, bool outgoing) const {
    std::vector<PlacedMessage> all;
    const std::vector<Hop>& hops = walk_.hops();
    all.reserve(places_.size() * hops.size());
    const SlotRows* const order = this->order();
    for (std::size_t held = 0; held < places_.size(); ++held)
      for (std::size_t hop = 1; hop < hops.size(); ++hop) {
        const std::span<const Run> blocks = bundles[held].of(hop);
        if (blocks.empty()) continue;
        const std::int32_t other = grid_.shifted(places_[held], hops[hop].move, outgoing ? 1 : -1);
        const std::int32_t from = outgoing ? places_[held] : other, to = outgoing ? other : places_[held];
        all.push_back({{rank_at(other), position_of(static_cast<std::int32_t>(hop), from, to, order, outgoing),
                        bundles[held].last[hop] != 0, blocks},
                       from,
                       to,
                       staggered(hop)});
      }
    std::ranges::stable_sort(all, [](const PlacedMessage& a, const PlacedMessage& b) {
      return std::pair(a.position, a.from) < std::pair(b.position, b.from);
    });
    return all;
  }

  /// Returns the messages with other ranks. A staggered message becomes one message for each block.
  std::vector<PositionedMessage> with_others(const std::vector<PlacedMessage>& all) const {
    std::vector<PositionedMessage> sent;
    sent.reserve(all.size());
    for (const PlacedMessage& message : all) {
      if (message.peer == rank_) continue;
      const std::size_t length = message.staggered ? 1 : message.blocks.size();
      for (std::size_t i = 0; i < message.blocks.size(); i += length) {
        sent.push_back(message);
        sent.back().blocks = message.blocks.subspan(i, length);
      }
    }
    return sent;
  }

  /// Moves blocks between two places of this rank, for which no messages are needed.
  void move_between_places(const std::vector<PlacedMessage>& outgoing) {
    for (const PlacedMessage& message : outgoing) {
      if (message.peer != rank_) continue;
      const auto held = std::ranges::find(places_, message.to) - places_.begin();
      std::vector<Run> to(message.blocks.begin(), message.blocks.end());
      for (Run& run : to) run.first = run.first % grid_.places() + static_cast<std::int32_t>(held) * grid_.places();
      flow_.move(message.blocks, to);
    }
  }

  void exchange(std::size_t phase) {
    walk_.enter(phase);
    std::vector<Bundles> leaving, arriving;
    for (std::size_t held = 0; held < places_.size(); ++held) {
      leaving.push_back(bundles(held, true));
      if (irregular_) arriving.push_back(bundles(held, false));  // otherwise equally many blocks arrive and leave
    }
    const std::vector<PlacedMessage> outgoing = messages(leaving, true),
                                     incoming = messages(irregular_ ? arriving : leaving, false);
    flow_.phase(true);
    move_between_places(outgoing);
    // If ranks have different numbers of messages at a position (because some hold proxy slots, or nodes are idle in
    // slots of the order), batches of messages could wait for one another in a cycle. The window then counts positions.
    const SlotRows* const order = this->order();
    const bool by_position = irregular_ || (order && spec_.completion == Completion::all);
    add_rounds(flow_, spec_, order ? order->slots : static_cast<std::int32_t>(walk_.hops().size()) - 1, by_position,
               with_others(outgoing), with_others(incoming));
    walk_.leave();
  }

  const Spec& spec_;
  Rank rank_;
  Arrangement grid_;
  FlowBuilder flow_;
  bool irregular_;  ///< whether some places are proxies
  DigitWalk walk_;
  std::shared_ptr<const SlotRows> order_;  ///< order of nodes; null if there is none
  std::vector<std::int32_t> places_;       ///< places of this rank: its own first, then its proxies
  std::vector<RanksAround> around_;        ///< for each of these places
};

SlotFlow bruck(const Spec& spec, const Shape& shape, Rank rank) { return Bruck(spec, shape, rank).make(); }

/// Returns why the groups of `dimensions` differ too much in size, or "" if they do not. The ranks of a small group
/// hold proxies for the places that it lacks. Work and memory grow with the places that one rank holds times all
/// places.
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
  if (digits_of(spec.radices, 1, extent(dimensions, shape).sizes.back()).size() > 1)
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
  constexpr Rank most_uneven = 256;  // their costs are counted in the schedules of all ranks
  const bool uneven = extent(dimensions, shape).places != shape.ranks;
  if (uneven && shape.ranks > most_uneven && (spec.digits != Digits::standard || spec.paths != Paths::ordered))
    return "digits=balanced and paths=rotated need groups of equal size on more than " + std::to_string(most_uneven) +
           " ranks";
  return no_order(spec, shape);
}

std::optional<Arrangement> grid_of(const Spec& spec, const Shape& shape) {
  if (spec.order != Order::shift || extent(spec.dimensions, shape).places != shape.ranks) return std::nullopt;
  return arrange(spec.dimensions, shape);
}

}  // namespace

extern const Algorithm bruck_family{bruck, unsuitable_grid, grid_of};

}  // namespace swapmeet
