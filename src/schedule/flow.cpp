#include "schedule/flow.hpp"

#include <algorithm>

#include "schedule/flow_builder.hpp"
#include "schedule/working_memory.hpp"

namespace swapmeet {

namespace {

/// Follower follows blocks from place to place, phase by phase. Until finish(), arriving block i has the number
/// own_blocks() + i.
class Follower {
 public:
  explicit Follower(const SlotFlow& flow) {
    flow_.ranks = flow.ranks;
    flow_.rank = flow.rank;
    flow_.neighbours = flow.neighbours;
    contents(Buffer::receive).resize(static_cast<std::size_t>(flow_.ending_blocks()), nothing);
    contents(Buffer::scratch).resize(static_cast<std::size_t>(flow.slots), nothing);
    for (std::int32_t d = 0; d < flow_.own_blocks(); ++d) contents(Buffer::send).push_back(d);
  }

  std::vector<std::int32_t>& contents(Buffer buffer) { return contents_[static_cast<std::size_t>(buffer)]; }

  void reserve(std::size_t messages) {
    flow_.sends.reserve(messages);
    flow_.receives.reserve(messages);
    flow_.departing.reserve(messages);
    arriving_.reserve(messages);
  }

  /// send(), receive() and move() take blocks from their places at the beginning of the phase. Blocks that they bring
  /// are in place when the phase ends.
  void send(const Message& message, std::span<const Run> runs) {
    const auto first = static_cast<std::uint32_t>(flow_.departing.size());
    take(runs, flow_.departing);
    flow_.sends.push_back(
        {message.peer, first, static_cast<std::uint32_t>(flow_.departing.size()) - first, message.last});
  }

  void receive(const Message& message, std::span<const Run> runs) {
    std::uint32_t count = 0;
    for (const Run& run : runs) {
      arriving_.push_back(run);
      count += static_cast<std::uint32_t>(run.count);
    }
    flow_.receives.push_back({message.peer, arrived_, count, message.last});
    arrived_ += count;
  }

  void move(std::span<const Run> from, std::span<const Run> to) {
    take(from, moved_);
    entering_.insert(entering_.end(), to.begin(), to.end());
  }

  /// Appends a round made of the messages added since the previous round.
  void end_round(Round round) {
    round.first_send = static_cast<std::uint32_t>(flow_.sends.size()) - round.send_count;
    round.first_receive = static_cast<std::uint32_t>(flow_.receives.size()) - round.receive_count;
    flow_.rounds.push_back(round);
  }

  void end_phase() {
    auto moved = moved_.begin();
    for_each(entering_, [&](std::int32_t& place) { place = *moved++; });
    for_each(arriving_, [&](std::int32_t& place) { place = flow_.own_blocks() + settled_++; });
    moved_.clear(), entering_.clear(), arriving_.clear();
  }

  /// Returns the flow. A block ends at this rank if the receive buffer (or a slot with a last source) holds it at the
  /// end. All other arrived blocks are passed on and get their final numbers.
  Flow finish(std::span<const Rank> last_source) && {
    flow_.arriving.assign(arrived_, 0);
    const std::int32_t own = flow_.own_blocks();
    const auto stays = [&](std::int32_t number, std::int32_t source) {
      if (number >= own) flow_.arriving[static_cast<std::size_t>(number - own)] = -1 - source;
    };
    for (std::int32_t s = 0; s < flow_.ending_blocks(); ++s)
      stays(contents(Buffer::receive)[static_cast<std::size_t>(s)], s);
    for (std::size_t i = 0; i < last_source.size(); ++i)
      if (last_source[i] >= 0) stays(contents(Buffer::scratch)[i], last_source[i]);
    for (std::int32_t& block : flow_.arriving)
      if (block == 0) block = own + flow_.passed_on++;
    for (std::int32_t& block : flow_.departing)
      if (block >= own) block = flow_.arriving[static_cast<std::size_t>(block - own)];
    return std::move(flow_);
  }

 private:
  static constexpr std::int32_t nothing = -1;

  void for_each(std::span<const Run> runs, auto use) {
    for (const Run& run : runs) {
      std::int32_t* const places = contents(run.buffer).data();
      for (std::int32_t i = 0; i < run.count; ++i) use(places[run.block(i)]);
    }
  }
  void take(std::span<const Run> runs, std::vector<std::int32_t>& numbers) {
    for (const Run& run : runs) {
      const std::size_t end = numbers.size();
      numbers.resize(end + static_cast<std::size_t>(run.count));
      for_each({&run, 1}, [number = numbers.begin() + static_cast<std::ptrdiff_t>(end)](std::int32_t place) mutable {
        *number++ = place;
      });
    }
  }

  Flow flow_;
  std::vector<std::int32_t> contents_[3];
  std::uint32_t arrived_ = 0;
  std::int32_t settled_ = 0;  ///< number of arrived blocks in finished phases
  // Of the current phase:
  std::vector<std::int32_t> moved_;
  std::vector<Run> entering_, arriving_;  ///< destinations of moves, and places of arriving blocks
};

}  // namespace

Flow flow_of(const SlotFlow& flow) {
  Follower follower(flow);
  follower.reserve(std::max(flow.sends.size(), flow.receives.size()));
  std::ranges::copy(flow.first_own, follower.contents(Buffer::scratch).begin());
  for (const SlotFlow::Phase& phase : flow.phases) {
    for (const Round& round : flow.rounds_of(phase)) {
      for (const Message& message : flow.sends_of(round)) follower.send(message, flow.runs_of(message));
      for (const Message& message : flow.receives_of(round)) follower.receive(message, flow.runs_of(message));
      if (round.send_count + round.receive_count > 0) follower.end_round(round);
    }
    for (const SlotFlow::Move& move : flow.moves_of(phase)) follower.move(flow.from(move), flow.to(move));
    follower.end_phase();
  }
  return std::move(follower).finish(flow.last_source);
}

std::int64_t peak_blocks(const Flow& flow) {
  const auto count = [](const Message& message) { return std::int64_t{message.count}; };
  return peak_memory(flow, count, [&](const Message& message) { return Room{count(message), 0}; });
}

}  // namespace swapmeet
