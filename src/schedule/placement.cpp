#include "schedule/placement.hpp"

#include <algorithm>

#include "schedule/builder.hpp"

namespace swapmeet {

namespace {

/// The blocks of a message or a move: their places, and their place in the staging area, if any.
struct Placed {
  std::uint32_t first = 0, count = 0;  ///< runs in the flow if blocks lie in slots, otherwise in pool_
  Run staged{.count = 0};
};

/// Copies blocks between two lists of runs with equal numbers of blocks.
void copy(ScheduleBuilder& plan, std::span<const Run> from, std::span<const Run> to) {
  std::int32_t taken = 0, put = 0;  // blocks already used of the first run in either list
  const auto part = [](const Run& run, std::int32_t first, std::int32_t count) {
    return Run{run.buffer, run.block(first), count, count == 1 ? 1 : run.stride};
  };
  while (!from.empty()) {
    const std::int32_t count = std::min(from[0].count - taken, to[0].count - put);
    plan.copy(part(from[0], taken, count), part(to[0], put, count));
    if ((taken += count) == from[0].count) from = from.subspan(1), taken = 0;
    if ((put += count) == to[0].count) to = to.subspan(1), put = 0;
  }
}

/// Whether `next` continues `run` by one block: with the stride of the run, or next to its only block.
bool continues(const Run& run, Location next) {
  if (run.count == 0 || run.buffer != next.buffer) return false;
  const std::int32_t step = next.block - run.block(run.count - 1);
  return run.count == 1 ? step == 1 || step == -1 : step == run.stride;
}

/// Makes the schedule of one rank.
class Placer {
 public:
  /// If `anywhere`, blocks are staged whenever some rank whose flow is this one, relative to its own number, has to
  /// stage them.
  Placer(const SlotFlow& flow, const Spec& spec, const Shape& shape, bool anywhere)
      : flow_(flow), spec_(spec), shape_(shape), plan_(head_of(flow, spec)), own_(flow.first_own), anywhere_(anywhere) {
    plan_.reserve(std::max(flow.sends.size(), flow.receives.size()));
    if (spec.layout == Layout::zero_copy || spec.layout == Layout::zero_rotation) count_arrivals();
    const bool in_scratch = spec.layout == Layout::basic || std::ranges::count(flow.last_source, -1) > 0;
    twin_ = in_scratch ? flow.slots : 0;
    scratch_ = twin_ + (spec.layout == Layout::zero_copy ? flow.slots : 0);
    find_stages();
  }

  Schedule make() && {
    if (!own_.empty() && spec_.layout != Layout::zero_rotation) move_all(true);
    for (std::size_t i = 0; i < flow_.phases.size(); ++i) exchange(flow_.phases[i], stages_[i]);
    if (flow_.phases.empty() && spec_.layout == Layout::zero_rotation) plan_.step(), copy_unmoved();
    if (!own_.empty() && spec_.layout == Layout::basic) move_all(false);
    return std::move(plan_).finish(scratch_);
  }

 private:
  static Schedule head_of(const SlotFlow& flow, const Spec& spec) {
    Schedule head;
    head.ranks = flow.ranks;
    head.rank = flow.rank;
    head.neighbours = flow.neighbours;
    head.segment_bytes = spec.segment_bytes;
    return head;
  }

  static std::size_t index(std::int32_t block) { return static_cast<std::size_t>(block); }

  /// Calls use(slot) for each slot among the places.
  static void for_each_slot(std::span<const Run> places, auto use) {
    for (const Run& run : places)
      for (std::int32_t i = 0; run.buffer == Buffer::scratch && i < run.count; ++i) use(run.block(i));
  }

  /// Sets left_ to the number of blocks that will arrive in each slot.
  void count_arrivals() {
    left_.assign(index(flow_.slots), 0);
    const auto arrive = [&](std::int32_t number) { ++left_[index(number)]; };
    for (const Message& message : flow_.receives) for_each_slot(flow_.runs_of(message), arrive);
    for (const SlotFlow::Move& move : flow_.moves) for_each_slot(flow_.to(move), arrive);
  }

  /// Finds the beginning of the staging area of each phase: behind all slots that are used in this or a later phase.
  void find_stages() {
    stages_.assign(flow_.phases.size(), scratch_);
    if (!flow_.last_source.empty()) return;  // slots are used until the end
    std::int32_t end = 0;
    const auto use = [&](std::span<const Run> places) {
      for (const Run& run : places)
        if (run.buffer == Buffer::scratch) end = std::max({end, run.first + 1, run.block(run.count - 1) + 1});
    };
    for (std::size_t i = stages_.size(); i-- > 0; stages_[i] = end) {
      for (const Round& round : flow_.rounds_of(flow_.phases[i])) {
        for (const Message& message : flow_.sends_of(round)) use(flow_.runs_of(message));
        for (const Message& message : flow_.receives_of(round)) use(flow_.runs_of(message));
      }
      for (const SlotFlow::Move& move : flow_.moves_of(flow_.phases[i])) use(flow_.from(move)), use(flow_.to(move));
    }
  }

  bool lie_in_slots() const { return spec_.layout == Layout::basic || flow_.last_source.empty(); }

  /// Returns the place of the block in a slot. If `arrives`, returns the place of a block that arrives there in this
  /// phase.
  Location home(std::int32_t number, bool arrives) const {
    if (lie_in_slots()) return slot(number);
    const std::size_t i = index(number);
    if (spec_.layout == Layout::zero_rotation && !arrives && own_[i] >= 0) return own_block(own_[i]);
    if (spec_.layout == Layout::zero_copy && (left_[i] - arrives) % 2 != 0) return slot(twin_ + number);
    const Rank source = flow_.last_source[i];
    return source >= 0 ? end_of(source) : slot(number);
  }

  /// Adds the initial or final copies (rotations). `in`: all own blocks to the places of their slots. Otherwise, for
  /// layout=basic: all blocks from there to their final places.
  void move_all(bool in) {
    plan_.step();
    Copy row{{.count = 0}, {.count = 0}};  // the run of copies gathered so far
    const auto end_row = [&] {
      if (row.from.count > 0) plan_.copy(row.from, row.to);
    };
    for (std::int32_t n = 0; n < flow_.slots; ++n) {
      const std::int32_t number = spec_.layout == Layout::basic ? n : flow_.slots - 1 - n;
      const Rank other = in ? own_[index(number)] : flow_.last_source[index(number)];
      if (other < 0) continue;
      const Location kept = home(number, false), given = in ? own_block(other) : end_of(other);
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
    }
    end_row();
  }

  /// Copies own blocks that are never sent from the send buffer to their final places.
  void copy_unmoved() {
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (own_[i] >= 0 && flow_.last_source[i] >= 0 && left_[i] == 0)
        plan_.copy(sendblock(own_[i]), receiveblock(flow_.last_source[i]));
  }

  /// Whether a message with `peer` may consist of blocks that are not contiguous.
  bool takes_runs(Rank peer) const {
    if (spec_.packing == Packing::datatype) return true;
    if (spec_.intra == Transport::mpi) return false;
    return anywhere_ ? shape_.hierarchy.empty() : shape_.share_node(flow_.rank, peer);
  }

  /// Adds the steps of a phase: a step that packs, the steps with messages, and a step that unpacks.
  void exchange(const SlotFlow::Phase& phase, std::int32_t stage) {
    pool_.clear();
    sends_.clear(), receives_.clear(), moves_.clear();
    ++now_;
    stage_ = stage;
    any_marked_ = false;
    if (phase.packs) plan_.copies(Purpose::pack);
    for (const Round& round : flow_.rounds_of(phase))
      for (const Message& message : flow_.sends_of(round)) pack(message, phase);
    for (const SlotFlow::Move& move : flow_.moves_of(phase)) mark(flow_.from(move));
    for (const SlotFlow::Move& move : flow_.moves_of(phase)) pack(move);
    for (const Round& round : flow_.rounds_of(phase))
      for (const Message& message : flow_.receives_of(round)) receive(message, phase.packs);
    add_rounds(phase);
    if (phase.packs) plan_.copies(Purpose::unpack);
    for (std::size_t i = 0; i < moves_.size(); i += 2)
      if (moves_[i].staged.count > 0) copy(plan_, {&moves_[i].staged, 1}, runs_of(moves_[i + 1]));
    for (const Placed& placed : receives_)
      if (placed.staged.count > 0) copy(plan_, {&placed.staged, 1}, runs_of(placed));
    if (!left_.empty()) settle(phase);
    scratch_ = std::max(scratch_, stage_);
  }

  /// Returns the memory of the blocks at the given places.
  Placed lay(std::uint32_t first, std::uint32_t count, bool arrive) {
    if (lie_in_slots()) return {first, count};
    blocks_.clear();
    for (const Run& run : std::span(flow_.runs).subspan(first, count))
      if (run.buffer != Buffer::scratch) blocks_.add(run);
      else
        for (std::int32_t i = 0; i < run.count; ++i) blocks_.add(home(run.block(i), arrive));
    const std::span<const Run> runs = blocks_.runs();
    pool_.insert(pool_.end(), runs.begin(), runs.end());
    return {static_cast<std::uint32_t>(pool_.size() - runs.size()), static_cast<std::uint32_t>(runs.size())};
  }

  std::span<const Run> runs_of(const Placed& placed) const {
    return std::span(lie_in_slots() ? flow_.runs : pool_).subspan(placed.first, placed.count);
  }

  /// Whether blocks are contiguous. With `anywhere_`, several blocks in the receive buffer count as not contiguous,
  /// because they are not on some other rank.
  bool contiguous(std::span<const Run> runs) const {
    return runs.size() == 1 && (runs[0].count == 1 || (runs[0].stride == 1 && (!anywhere_ || lie_in_slots())));
  }

  void stage(Placed& placed) {
    placed.staged = {Buffer::scratch, stage_, 0, 1};
    for (const Run& run : runs_of(placed)) placed.staged.count += run.count;
    stage_ += placed.staged.count;
  }

  void pack(const Message& message, const SlotFlow::Phase& phase) {
    Placed placed = lay(message.first, message.count, false);
    const bool apart = phase.packs && !contiguous(runs_of(placed)) && !takes_runs(message.peer);
    if (apart) {
      stage(placed);
      copy(plan_, runs_of(placed), {&placed.staged, 1});
    }
    if ((!apart || anywhere_) && (phase.packs || phase.move_count > 0))
      mark(flow_.runs_of(message));  // otherwise nothing calls marked()
    sends_.push_back(placed);
  }

  /// Moves are copied in the same step as the messages. They are staged first if their targets are still read in this
  /// phase.
  void pack(const SlotFlow::Move& move) {
    Placed from = lay(move.first, move.from_count, false);
    if (marked(flow_.to(move))) {
      stage(from);
      copy(plan_, runs_of(from), {&from.staged, 1});
    }
    moves_.push_back(from);
    moves_.push_back(lay(move.first + move.from_count, move.to_count, true));
  }

  void receive(const Message& message, bool packs) {
    Placed placed = lay(message.first, message.count, true);
    const bool as_they_lie = contiguous(runs_of(placed)) || takes_runs(message.peer);
    if (packs && (!as_they_lie || marked(flow_.runs_of(message)))) stage(placed);
    receives_.push_back(placed);
  }

  /// Marks blocks that messages or moves read in place while messages arrive.
  void mark(std::span<const Run> places) {
    for_each_slot(places, [&](std::int32_t number) {
      const Location from = home(number, false);
      if (from.buffer == Buffer::send) return;
      const std::int32_t ending = flow_.neighbours ? flow_.neighbours->in : flow_.ranks;
      if (!any_marked_) marks_[0].resize(index(twin_ + flow_.slots)), marks_[1].resize(index(ending));
      any_marked_ = true;
      marks_[from.buffer == Buffer::receive][index(from.block)] = now_;
    });
  }

  /// Whether a block arriving at one of these places would overwrite a block that is read in this phase.
  bool marked(std::span<const Run> places) const {
    const auto read = [&](Location to) { return marks_[to.buffer == Buffer::receive][index(to.block)] == now_; };
    if (anywhere_ && !lie_in_slots()) return any_marked_;
    return any_marked_ && std::ranges::any_of(places, [&](const Run& run) {
             for (std::int32_t i = 0; i < run.count; ++i)
               if (read(run.buffer == Buffer::scratch ? home(run.block(i), true) : Location{run.buffer, run.block(i)}))
                 return true;
             return false;
           });
  }

  void add_rounds(const SlotFlow::Phase& phase) {
    auto send = sends_.begin();
    auto receive = receives_.begin();
    const auto runs = [&](const Placed& placed) {
      return placed.staged.count > 0 ? std::span(&placed.staged, 1) : runs_of(placed);
    };
    for (const Round& round : flow_.rounds_of(phase)) {
      plan_.step(round.window, round.completion, round.posting);
      if (&round == &flow_.rounds_of(phase).front()) {
        if (phase.first_round == 0 && spec_.layout == Layout::zero_rotation) copy_unmoved();
        for (std::size_t i = 0; i < moves_.size(); i += 2)
          if (moves_[i].staged.count == 0) copy(plan_, runs_of(moves_[i]), runs_of(moves_[i + 1]));
      }
      for (const Message& message : flow_.sends_of(round)) plan_.send(message.peer, runs(*send++), message.last);
      for (const Message& message : flow_.receives_of(round))
        plan_.receive(message.peer, runs(*receive++), message.last);
    }
  }

  /// Updates own_ and left_ for the blocks that left and arrived in the phase.
  void settle(const SlotFlow::Phase& phase) {
    const auto leave = [&](std::int32_t number) { own_[index(number)] = -1; };
    const auto arrive = [&](std::int32_t number) { --left_[index(number)]; };
    for (const Round& round : flow_.rounds_of(phase)) {
      for (const Message& message : flow_.sends_of(round)) for_each_slot(flow_.runs_of(message), leave);
      for (const Message& message : flow_.receives_of(round)) for_each_slot(flow_.runs_of(message), arrive);
    }
    for (const SlotFlow::Move& move : flow_.moves_of(phase))
      for_each_slot(flow_.from(move), leave), for_each_slot(flow_.to(move), arrive);
  }

  const SlotFlow& flow_;
  const Spec& spec_;
  const Shape& shape_;
  ScheduleBuilder plan_;
  std::vector<Rank> own_;                ///< for each slot: destination of the own block in it; -1: none
  std::vector<std::int32_t> left_;       ///< for each slot: number of blocks still to arrive
  std::vector<std::int32_t> stages_;     ///< for each phase: first block of its staging area
  std::int32_t twin_ = 0, scratch_ = 0;  ///< first scratch block of the slots' second copies; scratch blocks in all
  bool anywhere_;
  // Of the current phase:
  std::int32_t stage_ = 0;  ///< scratch is unused from this block on
  RunList blocks_;
  std::vector<Run> pool_;
  std::vector<Placed> sends_, receives_, moves_;  ///< a move has two entries: source, target
  /// for blocks of scratch and of receive: number of the last phase in which the block is read in place
  std::vector<std::uint32_t> marks_[2];
  std::uint32_t now_ = 0;
  bool any_marked_ = false;
};

}  // namespace

Schedule place(const SlotFlow& flow, const Spec& spec, const Shape& shape) {
  return Placer(flow, spec, shape, false).make();
}

std::int32_t scratch_anywhere(const SlotFlow& flow, const Spec& spec, const Shape& shape) {
  return Placer(flow, spec, shape, true).make().scratch_blocks;
}

}  // namespace swapmeet
