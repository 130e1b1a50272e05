/// Store-and-forward exchange on a grid of ranks: Bruck's algorithm in every radix, TRA, TRA2, grids and tori.
///
/// A block is known by its offset: destination place minus source place, in each dimension modulo its size. Its digits
/// (of dimension 1, least significant first, then of dimension 2, ...) say how it travels: in the digit of weight b
/// with value z it goes z·b places further along its dimension. So at any time a place holds at most one block of each
/// offset, and the blocks that share a digit's value z go to one peer in one message. The r-1 messages of a digit are
/// independent.
///
/// Where the block of an offset is kept at place v (`home`) is the layout. With receive[v - offset], where it ends:
///   basic          scratch[offset]: rotated into scratch first, out of it at the end          Source: bruck1997, tra
///   modified       receive[v - offset]: rotated first, right at the end                       Source: traff2014, radix
///   zero-rotation  send[v + offset] until it first moves, then as modified                    Source: nonuniform
///   zero-copy      receive or a twin of it in scratch, in turn, so that arriving blocks never
///                  overwrite departing ones                                                   Source: traff2014
///
/// Cost:    α·K + β·D·S with K and D of model/counts.hpp     [checked by tests/core/counts_test.py]
/// Needs:   any grid.   Scratch: M blocks staged at most for what leaves and M for what arrives, M = P - ceil(P/r) (on
///          a grid the largest P - P/n·ceil(n/r)); with MPI datatypes only for what arrives, and none for zero-copy. P
///          more for basic and zero-copy; with carried places (topology/arrangement.hpp) P' more for each place held,
///          P' places in all.                                     [checked by tests/core/counts_test.py]
/// Messages within a node that do not go by MPI (intra != mpi) take blocks as they lie: no packing.
///
/// Each message has a height, the same at both ends: the digit's value, or between nodes with order=topology the slot
/// of the two nodes, which are known by their coordinates: the order of their first ranks (topology/endpoints.hpp).
#include "algorithms/bruck.hpp"

#include <algorithm>

#include "schedule/builder.hpp"
#include "schedule/run_list.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

namespace {

struct Digit {
  std::size_t dimension;
  std::int32_t weight;  ///< in places along the dimension
  std::int32_t radix;
};

/// The blocks that leave a place held by this rank, or arrive there, in one round.
struct Bundle {
  std::int32_t value = 0;  ///< z, of the digit
  std::int32_t height = 0;
  std::int32_t from = 0, to = 0;  ///< places
  std::size_t held = 0;           ///< which of our places it leaves or reaches
  bool last = true;               ///< its blocks have no more digits to go
  RunList blocks{};
};

/// What one rank needs to know of all offsets while digits go by.
struct Offsets {
  std::vector<std::uint8_t> hops;      ///< moves so far
  std::vector<std::uint8_t> all_hops;  ///< moves in all
  std::vector<std::int32_t> done;      ///< the part of the offset that the moves so far have covered
  std::vector<std::int32_t> values;    ///< of the digit at hand
};

/// The ranks as seen from a place, for each offset: so far ahead of it, and behind it. -1: that place is carried.
struct Surroundings {
  std::vector<Rank> ahead, behind;
};

class Bruck {
 public:
  Bruck(const Spec& spec, const Shape& shape, Rank rank)
      : spec_(spec), shape_(shape), rank_(rank), grid_(arrange(spec.dimensions, shape)), plan_(shape, rank) {
    for (std::int32_t place = 0; place < grid_.places(); ++place)
      if (grid_.rank_at[static_cast<std::size_t>(place)] == rank) places_.push_back(place);
    std::int32_t stride = 1;
    for (std::size_t d = 0; d < grid_.sizes.size(); stride *= grid_.sizes[d++]) {
      strides_.push_back(stride);
      std::int32_t weight = 1;
      for (const std::int32_t radix : digits_of(spec.radices, d, grid_.sizes[d])) {
        digits_.push_back({d, weight, radix});
        weight *= radix;
      }
    }
    irregular_ = grid_.places() != shape.ranks;
    for (const std::int32_t place : places_) around_.push_back({ranks_from(place, 1), ranks_from(place, -1)});
    const std::size_t n = static_cast<std::size_t>(grid_.places());
    offsets_ = {std::vector<std::uint8_t>(n), std::vector<std::uint8_t>(n), std::vector<std::int32_t>(n),
                std::vector<std::int32_t>(n)};
    for (const Digit& digit : digits_) {
      read(digit);
      for (std::size_t i = 0; i < n; ++i) offsets_.all_hops[i] += offsets_.values[i] != 0;
    }
    const std::int32_t held = static_cast<std::int32_t>(places_.size()) * grid_.places();
    const std::int32_t main = spec.layout == Layout::basic || irregular_ ? held : 0;
    twin_ = main;
    stage_ = main + (spec.layout == Layout::zero_copy ? held : 0);
    scratch_ = stage_;
  }

  Schedule make() && {
    if (spec_.layout != Layout::zero_rotation) move_all(true);
    for (const Digit& digit : digits_) exchange(digit);
    if (digits_.empty() && spec_.layout == Layout::zero_rotation)
      plan_.step().copy(sendblock(rank_), receiveblock(rank_));
    if (spec_.layout == Layout::basic) move_all(false);
    return std::move(plan_.scratch(scratch_)).finish();
  }

 private:
  /// Sets the values of `digit`, in one pass without divisions: they would take most of the planning.
  void read(const Digit& digit) {
    const std::int32_t stride = strides_[digit.dimension], size = grid_.sizes[digit.dimension];
    auto next = offsets_.values.begin();
    while (next != offsets_.values.end())
      for (std::int32_t along = 0, z = 0, left = digit.weight; along < size; ++along) {
        next = std::fill_n(next, stride, z);
        if (--left > 0) continue;
        left = digit.weight;
        z = z + 1 == digit.radix ? 0 : z + 1;
      }
  }

  Rank rank_at(std::int32_t place) const { return grid_.rank_at[static_cast<std::size_t>(place)]; }

  std::vector<Rank> ranks_from(std::int32_t place, std::int32_t sign) const {
    std::vector<std::int32_t> all = grid_.all_shifted(place, sign);
    for (std::int32_t& other : all) other = irregular_ && grid_.carried(other) ? -1 : rank_at(other);
    return all;
  }

  /// Whether a block of this offset is at our place number `held` when `done` of its way is behind it: neither its
  /// source nor its destination may be a carried place.
  bool exists(std::size_t held, std::int32_t offset, std::int32_t done) const {
    return !irregular_ || (around_[held].behind[static_cast<std::size_t>(done)] >= 0 &&
                           around_[held].ahead[static_cast<std::size_t>(offset - done)] >= 0);
  }

  /// Where our place number `held` keeps the block of `offset` after `hops` moves.
  Location home(std::size_t held, std::int32_t offset, std::int32_t hops) const {
    const auto i = static_cast<std::size_t>(offset);
    const std::int32_t own = static_cast<std::int32_t>(held) * grid_.places() + offset;
    if (spec_.layout == Layout::basic) return {Buffer::scratch, own};
    if (spec_.layout == Layout::zero_rotation && hops == 0) return {Buffer::send, around_[held].ahead[i]};
    if (spec_.layout == Layout::zero_copy && (offsets_.all_hops[i] - hops) % 2 != 0)
      return {Buffer::scratch, twin_ + own};
    const Rank end = around_[held].behind[i];
    return held != 0 || end < 0 ? Location{Buffer::scratch, own} : Location{Buffer::receive, end};
  }

  /// Calls use(offset) for all offsets, such that homes in the receive buffer (basic: in scratch) come in rising order.
  template <class Use>
  void for_each_offset(Use use) const {
    const std::int32_t n = grid_.places();
    for (std::int32_t i = 0; i < n; ++i) use(spec_.layout == Layout::basic ? i : n - 1 - i);
  }

  /// The rotations: all blocks from the send buffer to their homes, or (basic) from their homes to the receive buffer.
  void move_all(bool in) {
    plan_.step();
    Copy row{{.count = 0}, {.count = 0}};  // so far
    const auto end_row = [&] {
      if (row.from.count > 0) plan_.copy(row.from, row.to);
    };
    for_each_offset([&](std::int32_t offset) {
      const auto i = static_cast<std::size_t>(offset);
      const Rank other = in ? around_[0].ahead[i] : around_[0].behind[i];
      if (other < 0) return;
      const Location kept = home(0, offset, in ? 0 : offsets_.all_hops[i]);
      const Location given{in ? Buffer::send : Buffer::receive, other};
      const Location from = in ? given : kept, to = in ? kept : given;
      if (continues(row.from, from) && continues(row.to, to)) {
        row.from.stride = from.block - row.from.block(row.from.count - 1);
        row.to.stride = to.block - row.to.block(row.to.count - 1);
        ++row.from.count;
        ++row.to.count;
      } else {
        end_row();
        row = {{from.buffer, from.block, 1, 1}, {to.buffer, to.block, 1, 1}};
      }
    });
    end_row();
  }

  /// Whether `next` lies beside the last block of `run`, on the side where the run goes.
  static bool continues(const Run& run, Location next) {
    if (run.count == 0 || run.buffer != next.buffer) return false;
    const std::int32_t step = next.block - run.block(run.count - 1);
    return run.count == 1 ? step == 1 || step == -1 : step == run.stride;
  }

  /// In one message, blocks that share a kind of home come together: by a key that both ends know.
  bool second_group(std::int32_t offset) const {
    const auto i = static_cast<std::size_t>(offset);
    if (spec_.layout == Layout::zero_rotation) return offsets_.hops[i] != 0;
    return spec_.layout == Layout::zero_copy && (offsets_.all_hops[i] - offsets_.hops[i]) % 2 != 0;
  }

  /// The slots in which nodes meet in this digit; nullptr: they meet in the order of shift.
  const SlotRows* slots_of(const Digit& digit) const {
    const bool outermost = digit.dimension > 0 && digit.dimension + 1 == grid_.sizes.size();
    return outermost && spec_.order == Order::topology ? shape_.order.get() : nullptr;
  }

  std::int32_t height_of(const Bundle& bundle, const SlotRows* slots, bool outgoing) const {
    if (!slots) return bundle.value;
    const std::int32_t from = bundle.from / strides_.back(), to = bundle.to / strides_.back();  // nodes
    return 1 + (outgoing ? slots->sends_of(from)[static_cast<std::size_t>(to)]
                         : slots->receives_of(to)[static_cast<std::size_t>(from)]);
  }

  /// What leaves our places in this digit (`outgoing`), or arrives there; ordered by height, then by the place it
  /// leaves.
  std::vector<Bundle> bundles(const Digit& digit, bool outgoing) const {
    const int groups = spec_.layout == Layout::zero_rotation || spec_.layout == Layout::zero_copy ? 2 : 1;
    std::vector<Bundle> all;
    all.reserve(places_.size() * static_cast<std::size_t>(digit.radix));
    for (std::size_t held = 0; held < places_.size(); ++held) {
      std::vector<Bundle> by_value(static_cast<std::size_t>(digit.radix));
      for (int group = 0; group < groups; ++group)
        for_each_offset([&](std::int32_t offset) {
          const auto i = static_cast<std::size_t>(offset);
          const std::int32_t z = offsets_.values[i];
          if (z == 0 || second_group(offset) != (group == 1)) return;
          const std::int32_t move = z * digit.weight * strides_[digit.dimension];
          if (!exists(held, offset, offsets_.done[i] + (outgoing ? 0 : move))) return;
          Bundle& bundle = by_value[static_cast<std::size_t>(z)];
          bundle.blocks.add(home(held, offset, offsets_.hops[i] + (outgoing ? 0 : 1)));
          bundle.last &= offsets_.hops[i] + 1 == offsets_.all_hops[i];
        });
      for (std::int32_t z = 1; z < digit.radix; ++z) {
        Bundle& bundle = by_value[static_cast<std::size_t>(z)];
        const std::int32_t move = z * digit.weight * strides_[digit.dimension];
        bundle.value = z;
        bundle.held = held;
        bundle.from = outgoing ? places_[held] : grid_.shifted(places_[held], move, -1);
        bundle.to = outgoing ? grid_.shifted(places_[held], move, 1) : places_[held];
        bundle.height = height_of(bundle, slots_of(digit), outgoing);
        if (bundle.blocks.blocks() > 0) all.push_back(std::move(bundle));
      }
    }
    std::ranges::stable_sort(all, [](const Bundle& a, const Bundle& b) {
      return std::pair(a.height, a.from) < std::pair(b.height, b.from);
    });
    return all;
  }

  /// One digit: a step that packs, one with the messages, one that unpacks.
  void exchange(const Digit& digit) {
    read(digit);
    const std::vector<Bundle> outgoing = bundles(digit, true), incoming = bundles(digit, false);
    std::int32_t staged = stage_;
    const auto stage = [&](std::int32_t blocks) {
      const Run run{Buffer::scratch, staged, blocks, 1};
      staged += blocks;
      scratch_ = std::max(scratch_, staged);
      return run;
    };
    std::vector<Run> packed(outgoing.size(), Run{.count = 0}), landed(incoming.size(), Run{.count = 0});
    for (std::size_t i = 0; i < outgoing.size(); ++i)
      if (!sent_as_it_lies(outgoing[i])) packed[i] = stage(outgoing[i].blocks.blocks());
    const auto leaving = by_place_and_value(digit, outgoing);
    const auto leaves = [&](std::size_t held, std::int32_t z) {
      return leaving[held * static_cast<std::size_t>(digit.radix) + static_cast<std::size_t>(z)];
    };
    for (std::size_t i = 0; i < incoming.size(); ++i) {
      const Bundle& bundle = incoming[i];
      if (rank_at(bundle.from) == rank_) {  // from one of our places to another: nothing is sent
        const auto held = static_cast<std::size_t>(std::ranges::find(places_, bundle.from) - places_.begin());
        landed[i] = packed[static_cast<std::size_t>(leaves(held, bundle.value) - outgoing.data())];
      } else if (!lands_at_home(bundle, leaves(bundle.held, bundle.value))) {
        landed[i] = stage(bundle.blocks.blocks());
      }
    }
    plan_.copies(Purpose::pack);
    for (std::size_t i = 0; i < outgoing.size(); ++i) copy_runs(outgoing[i].blocks, packed[i], true);
    add_messages(digit, outgoing, packed, incoming, landed);
    plan_.copies(Purpose::unpack);
    for (std::size_t i = 0; i < incoming.size(); ++i) copy_runs(incoming[i].blocks, landed[i], false);
    for (std::size_t i = 0; i < offsets_.values.size(); ++i)
      if (const std::int32_t z = offsets_.values[i]) {
        ++offsets_.hops[i];
        offsets_.done[i] += z * digit.weight * strides_[digit.dimension];
      }
  }

  /// Whether a message with `peer` may have blocks that do not lie side by side.
  bool takes_runs(Rank peer) const {
    return spec_.packing == Packing::datatype || (spec_.intra != Transport::mpi && shape_.share_node(rank_, peer));
  }

  bool sent_as_it_lies(const Bundle& bundle) const {
    const Rank peer = rank_at(bundle.to);
    return peer != rank_ && (bundle.blocks.contiguous() || takes_runs(peer));
  }

  /// For each of our places and each value: the outgoing bundle, or nullptr.
  std::vector<const Bundle*> by_place_and_value(const Digit& digit, const std::vector<Bundle>& outgoing) const {
    std::vector<const Bundle*> table(places_.size() * static_cast<std::size_t>(digit.radix), nullptr);
    for (const Bundle& bundle : outgoing)
      table[bundle.held * static_cast<std::size_t>(digit.radix) + static_cast<std::size_t>(bundle.value)] = &bundle;
    return table;
  }

  /// Whether a bundle may be received where its blocks belong: what leaves that place with the same value may not be
  /// sent from there.
  bool lands_at_home(const Bundle& bundle, const Bundle* leaving) const {
    if (!bundle.blocks.contiguous() && !takes_runs(rank_at(bundle.from))) return false;
    return spec_.layout == Layout::zero_copy || !leaving || !sent_as_it_lies(*leaving) ||
           leaving->blocks.within(Buffer::send);
  }

  void copy_runs(const RunList& blocks, Run staged, bool in) {
    if (staged.count == 0) return;
    for (const Run& run : blocks.runs()) {
      const Run part{staged.buffer, staged.first, run.count, 1};
      in ? plan_.copy(run, part) : plan_.copy(part, run);
      staged.first += run.count;
    }
  }

  /// Calls use(runs) for each message that `bundle` makes: staged blocks if there are any, else where they lie.
  template <class Use>
  void for_each_message(const Digit& digit, const Bundle& bundle, const Run& staged, Use use) const {
    const std::span<const Run> runs = staged.count > 0 ? std::span(&staged, 1) : bundle.blocks.runs();
    if (spec_.grouping == Grouping::coalesced || digit.dimension + 1 != grid_.sizes.size()) return use(runs);
    for (const Run& run : runs)
      for (std::int32_t i = 0; i < run.count; ++i) {
        const Run block{run.buffer, run.block(i), 1, 1};
        use({&block, 1});
      }
  }

  /// The messages, in one step. Where ranks have unequally many messages of a height (places are carried, or nodes are
  /// idle in slots), batches of so many messages could deadlock: there a step holds `window` heights, all in flight.
  void add_messages(const Digit& digit, const std::vector<Bundle>& outgoing, const std::vector<Run>& packed,
                    const std::vector<Bundle>& incoming, const std::vector<Run>& landed) {
    const SlotRows* const slots = slots_of(digit);
    const std::int32_t heights = slots ? slots->slots : digit.radix - 1;
    const bool by_height = irregular_ || (slots && spec_.completion == Completion::all);
    const std::int32_t at_a_time = by_height && spec_.window != 0 ? spec_.window : heights;
    const bool first_digit = &digit == &digits_.front();
    std::size_t out = 0, in = 0;
    for (std::int32_t done = 0; done < heights; done += at_a_time) {
      plan_.step(by_height ? 0 : spec_.window, spec_.completion, spec_.posting);
      if (done == 0 && first_digit && spec_.layout == Layout::zero_rotation)
        plan_.copy(sendblock(rank_), receiveblock(rank_));
      for (; out < outgoing.size() && outgoing[out].height - done <= at_a_time; ++out) {
        const Rank peer = rank_at(outgoing[out].to);
        if (peer == rank_) continue;
        for_each_message(digit, outgoing[out], packed[out],
                         [&](std::span<const Run> blocks) { plan_.send(peer, blocks, outgoing[out].last); });
      }
      for (; in < incoming.size() && incoming[in].height - done <= at_a_time; ++in) {
        const Rank peer = rank_at(incoming[in].from);
        if (peer == rank_) continue;
        for_each_message(digit, incoming[in], landed[in],
                         [&](std::span<const Run> blocks) { plan_.receive(peer, blocks, incoming[in].last); });
      }
    }
  }

  const Spec& spec_;
  const Shape& shape_;
  Rank rank_;
  Arrangement grid_;
  ScheduleBuilder plan_;
  std::vector<std::int32_t> places_;   ///< that we hold: our own first, then those that we carry
  std::vector<Surroundings> around_;   ///< of each of these places
  std::vector<std::int32_t> strides_;  ///< of the dimensions, in places
  std::vector<Digit> digits_;
  bool irregular_ = false;  ///< some places are carried
  Offsets offsets_;
  std::int32_t twin_ = 0, stage_ = 0, scratch_ = 0;  ///< in scratch: where the twins and the stage begin; blocks in all
};

}  // namespace

Schedule bruck(const Spec& spec, const Shape& shape, Rank rank) { return Bruck(spec, shape, rank).make(); }

}  // namespace swapmeet
