#include "schedule/placement.hpp"

#include <algorithm>

#include "schedule/builder.hpp"

namespace swapmeet {

namespace {

/// Blocks of a message or a move where they lie, and where they are staged.
struct Parcel {
  std::uint32_t first = 0, count = 0;  ///< of runs in a pool
  Run staged{.count = 0};
};

/// Copies blocks from runs to runs of as many blocks.
void copy(ScheduleBuilder& plan, std::span<const Run> from, std::span<const Run> to) {
  std::int32_t taken = 0, put = 0;  // of the first run of either
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

/// Whether `next` lies beside the last block of `run`, on the side where the run goes.
bool continues(const Run& run, Location next) {
  if (run.count == 0 || run.buffer != next.buffer) return false;
  const std::int32_t step = next.block - run.block(run.count - 1);
  return run.count == 1 ? step == 1 || step == -1 : step == run.stride;
}

class Placer {
 public:
  Placer(const SlotFlow& made, const Spec& spec, const Shape& shape)
      : made_(made), flow_(made.flow), spec_(spec), shape_(shape), plan_(shape, made.flow.rank), own_(made.first_own) {
    plan_.segments(spec.segment_bytes).reserve(std::max(flow_.sends.size(), flow_.receives.size()));
    if (spec.layout == Layout::zero_copy || spec.layout == Layout::zero_rotation) count_arrivals();
    const bool in_scratch = spec.layout == Layout::basic || std::ranges::count(made.last_source, -1) > 0;
    twin_ = in_scratch ? made.slots : 0;
    scratch_ = twin_ + (spec.layout == Layout::zero_copy ? made.slots : 0);
    find_stages();
  }

  Schedule make() && {
    if (!own_.empty() && spec_.layout != Layout::zero_rotation) move_all(true);
    for (std::size_t i = 0; i < made_.phases.size(); ++i) exchange(made_.phases[i], stages_[i]);
    if (made_.phases.empty() && spec_.layout == Layout::zero_rotation) copy_unmoved(plan_.step());
    if (!own_.empty() && spec_.layout == Layout::basic) move_all(false);
    return std::move(plan_.scratch(scratch_)).finish();
  }

 private:
  static std::size_t index(std::int32_t block) { return static_cast<std::size_t>(block); }

  void count_arrivals() {
    left_.assign(index(made_.slots), 0);
    for (const auto* const places : {&made_.arriving, &made_.entering})
      for (const Location place : *places)
        if (place.buffer == Buffer::scratch) ++left_[index(place.block)];
  }

  /// Where the stage of each phase begins: behind all slots that are in use then or later.
  void find_stages() {
    stages_.assign(made_.phases.size(), scratch_);
    if (!made_.last_source.empty()) return;  // slots are in use to the end
    std::int32_t end = 0;
    const auto use = [&](std::span<const Location> places) {
      for (const Location place : places)
        if (place.buffer == Buffer::scratch) end = std::max(end, place.block + 1);
    };
    for (std::size_t i = stages_.size(); i-- > 0; stages_[i] = end) {
      for (const Round& round : rounds_of(made_.phases[i])) {
        for (const Message& message : flow_.sends_of(round)) use(departing_in(message));
        for (const Message& message : flow_.receives_of(round)) use(arriving_in(message));
      }
      for (const SlotFlow::Move& move : moves_of(made_.phases[i])) use(leaving_in(move)), use(entering_in(move));
    }
  }

  std::span<const Round> rounds_of(const SlotFlow::Phase& phase) const {
    return std::span(flow_.rounds).subspan(phase.first_round, phase.round_count);
  }
  std::span<const SlotFlow::Move> moves_of(const SlotFlow::Phase& phase) const {
    return std::span(made_.moves).subspan(phase.first_move, phase.move_count);
  }
  std::span<const Location> departing_in(const Message& message) const {
    return std::span(made_.departing).subspan(message.first, message.count);
  }
  std::span<const Location> arriving_in(const Message& message) const {
    return std::span(made_.arriving).subspan(message.first, message.count);
  }
  std::span<const Location> leaving_in(const SlotFlow::Move& move) const {
    return std::span(made_.leaving).subspan(move.first, move.count);
  }
  std::span<const Location> entering_in(const SlotFlow::Move& move) const {
    return std::span(made_.entering).subspan(move.first, move.count);
  }

  /// Where the block at a place lies (`arrives`: where one that arrives there shall lie).
  Location home(Location place, bool arrives) const {
    if (place.buffer != Buffer::scratch || spec_.layout == Layout::basic) return place;
    const std::size_t i = index(place.block);
    if (spec_.layout == Layout::zero_rotation && !arrives && own_[i] >= 0) return own_block(own_[i]);
    if (spec_.layout == Layout::zero_copy && (left_[i] - arrives) % 2 != 0) return slot(twin_ + place.block);
    const Rank source = made_.last_source[i];
    return source >= 0 ? end_of(source) : place;
  }

  /// The rotations: all own blocks to where their slots are, or (basic) all blocks from there to their ends.
  void move_all(bool in) {
    plan_.step();
    Copy row{{.count = 0}, {.count = 0}};  // so far
    const auto end_row = [&] {
      if (row.from.count > 0) plan_.copy(row.from, row.to);
    };
    for (std::int32_t n = 0; n < made_.slots; ++n) {
      const std::int32_t number = spec_.layout == Layout::basic ? n : made_.slots - 1 - n;
      const Rank other = in ? own_[index(number)] : made_.last_source[index(number)];
      if (other < 0) continue;
      const Location kept = home(slot(number), false), given = in ? own_block(other) : end_of(other);
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

  /// Own blocks that never leave, from send to where they end.
  void copy_unmoved(ScheduleBuilder& plan) const {
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (own_[i] >= 0 && made_.last_source[i] >= 0 && left_[i] == 0)
        plan.copy(sendblock(own_[i]), receiveblock(made_.last_source[i]));
  }

  /// Whether a message with `peer` may have blocks that do not lie side by side.
  bool takes_runs(Rank peer) const {
    return spec_.packing == Packing::datatype || (spec_.intra != Transport::mpi && shape_.share_node(flow_.rank, peer));
  }

  /// A step that packs, those with the messages, and one that unpacks.
  void exchange(const SlotFlow::Phase& phase, std::int32_t stage) {
    pool_.clear();
    sends_.clear(), receives_.clear(), moves_.clear();
    ++now_;
    stage_ = stage;
    any_marked_ = false;
    if (phase.packs) plan_.copies(Purpose::pack);
    for (const Round& round : rounds_of(phase))
      for (const Message& message : flow_.sends_of(round)) pack(message, phase.packs);
    for (const SlotFlow::Move& move : moves_of(phase)) mark(leaving_in(move));
    for (const SlotFlow::Move& move : moves_of(phase)) pack(move);
    for (const Round& round : rounds_of(phase))
      for (const Message& message : flow_.receives_of(round)) land(message, phase.packs);
    add_rounds(phase);
    if (phase.packs) plan_.copies(Purpose::unpack);
    for (std::size_t i = 0; i < moves_.size(); i += 2)
      if (moves_[i].staged.count > 0) copy(plan_, {&moves_[i].staged, 1}, runs_of(moves_[i + 1]));
    for (const Parcel& parcel : receives_)
      if (parcel.staged.count > 0) copy(plan_, {&parcel.staged, 1}, runs_of(parcel));
    if (!left_.empty()) settle(phase);
    scratch_ = std::max(scratch_, stage_);
  }

  /// Where blocks lie, as a parcel in the pool; blocks_ is their list.
  Parcel gather(std::span<const Location> places, bool arrive) {
    blocks_.clear();
    for (const Location place : places) blocks_.add(home(place, arrive));
    const auto runs = blocks_.runs();
    const Parcel parcel{static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(runs.size())};
    pool_.insert(pool_.end(), runs.begin(), runs.end());
    return parcel;
  }

  std::span<const Run> runs_of(const Parcel& parcel) const {
    return std::span(pool_).subspan(parcel.first, parcel.count);
  }

  Run stage_blocks() {
    const Run run{Buffer::scratch, stage_, blocks_.blocks(), 1};
    stage_ += run.count;
    return run;
  }

  void pack(const Message& message, bool packs) {
    Parcel parcel = gather(departing_in(message), false);
    if (packs && !blocks_.contiguous() && !takes_runs(message.peer)) {
      parcel.staged = stage_blocks();
      copy(plan_, runs_of(parcel), {&parcel.staged, 1});
    } else if (!blocks_.within(Buffer::send)) {
      mark(departing_in(message));
    }
    sends_.push_back(parcel);
  }

  /// Beside the messages, unless its targets are read there.
  void pack(const SlotFlow::Move& move) {
    const bool taken = marked(entering_in(move));
    Parcel from = gather(leaving_in(move), false);
    if (taken) {
      from.staged = stage_blocks();
      copy(plan_, runs_of(from), {&from.staged, 1});
    }
    moves_.push_back(from);
    moves_.push_back(gather(entering_in(move), true));
  }

  void land(const Message& message, bool packs) {
    Parcel parcel = gather(arriving_in(message), true);
    const bool as_they_lie = blocks_.contiguous() || takes_runs(message.peer);
    if (packs && (!as_they_lie || marked(arriving_in(message)))) parcel.staged = stage_blocks();
    receives_.push_back(parcel);
  }

  /// Blocks are read where they lie, by messages or moves, while messages arrive.
  void mark(std::span<const Location> places) {
    any_marked_ = true;
    for (std::vector<std::uint32_t>& marks : marks_) marks.resize(std::max(marks.size(), index(most_blocks())), 0);
    for (const Location place : places) {
      const Location from = home(place, false);
      if (from.buffer != Buffer::send) marks_[from.buffer == Buffer::receive][index(from.block)] = now_;
    }
  }

  /// Whether a block that arrives at one of these places would overwrite one that is read.
  bool marked(std::span<const Location> places) const {
    return any_marked_ && std::ranges::any_of(places, [&](Location place) {
             const Location to = home(place, true);
             return marks_[to.buffer == Buffer::receive][index(to.block)] == now_;
           });
  }

  std::int32_t most_blocks() const { return std::max(flow_.ranks, twin_ + made_.slots); }

  void add_rounds(const SlotFlow::Phase& phase) {
    auto send = sends_.begin();
    auto receive = receives_.begin();
    const auto runs = [&](const Parcel& parcel) {
      return parcel.staged.count > 0 ? std::span(&parcel.staged, 1) : runs_of(parcel);
    };
    for (const Round& round : rounds_of(phase)) {
      plan_.step(round.window, round.completion, round.posting);
      if (&round == &rounds_of(phase).front()) {
        if (phase.first_round == 0 && spec_.layout == Layout::zero_rotation) copy_unmoved(plan_);
        for (std::size_t i = 0; i < moves_.size(); i += 2)
          if (moves_[i].staged.count == 0) copy(plan_, runs_of(moves_[i]), runs_of(moves_[i + 1]));
      }
      for (const Message& message : flow_.sends_of(round)) plan_.send(message.peer, runs(*send++), message.last);
      for (const Message& message : flow_.receives_of(round))
        plan_.receive(message.peer, runs(*receive++), message.last);
    }
  }

  /// What has left a slot is there no more, and what has come to it is.
  void settle(const SlotFlow::Phase& phase) {
    const auto leave = [&](std::span<const Location> places) {
      for (const Location place : places)
        if (place.buffer == Buffer::scratch) own_[index(place.block)] = -1;
    };
    const auto arrive = [&](std::span<const Location> places) {
      for (const Location place : places)
        if (place.buffer == Buffer::scratch) --left_[index(place.block)];
    };
    for (const Round& round : rounds_of(phase)) {
      for (const Message& message : flow_.sends_of(round)) leave(departing_in(message));
      for (const Message& message : flow_.receives_of(round)) arrive(arriving_in(message));
    }
    for (const SlotFlow::Move& move : moves_of(phase)) leave(leaving_in(move)), arrive(entering_in(move));
  }

  const SlotFlow& made_;
  const Flow& flow_;
  const Spec& spec_;
  const Shape& shape_;
  ScheduleBuilder plan_;
  std::vector<Rank> own_;                ///< of each slot: the destination of the own block in it; -1: none
  std::vector<std::int32_t> left_;       ///< of each slot: blocks that are still to come
  std::vector<std::int32_t> stages_;     ///< of each phase
  std::int32_t twin_ = 0, scratch_ = 0;  ///< in scratch: where the twins of slots begin; blocks in all
  // Of the phase at hand:
  std::int32_t stage_ = 0;  ///< scratch is free from here on
  RunList blocks_;
  std::vector<Run> pool_;
  std::vector<Parcel> sends_, receives_, moves_;  ///< a move is two: from, to
  std::vector<std::uint32_t> marks_[2];  ///< of scratch and receive: the phase in which a block is read as it lies
  std::uint32_t now_ = 0;
  bool any_marked_ = false;
};

}  // namespace

Schedule place(const SlotFlow& flow, const Spec& spec, const Shape& shape) { return Placer(flow, spec, shape).make(); }

}  // namespace swapmeet
