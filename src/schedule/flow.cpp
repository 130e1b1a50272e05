#include "schedule/flow.hpp"

#include <algorithm>

#include "schedule/working_memory.hpp"

namespace swapmeet {

namespace {

/// Follows blocks through the buffers of one rank. While it does, arriving block i has the number P + i.
class Follower {
 public:
  explicit Follower(const Schedule& schedule) : schedule_(schedule) {
    flow_.ranks = schedule.ranks;
    flow_.rank = schedule.rank;
    for (const Buffer buffer : {Buffer::send, Buffer::receive, Buffer::scratch})
      contents(buffer).assign(static_cast<std::size_t>(schedule.blocks_in(buffer)), 0);
    for (Rank d = 0; d < schedule.ranks; ++d) at(Buffer::send, d) = d;
  }

  Flow follow() && {
    for (const Step& step : schedule_.steps) {
      // Operations of a step are independent, so the copies may come first.
      for (const Copy& copy : schedule_.copies_of(step))
        for (std::int32_t i = 0; i < copy.from.count; ++i)
          at(copy.to.buffer, copy.to.block(i)) = at(copy.from.buffer, copy.from.block(i));
      exchange(step);
    }
    settle();
    return std::move(flow_);
  }

 private:
  std::vector<std::int32_t>& contents(Buffer buffer) { return contents_[static_cast<std::size_t>(buffer)]; }
  std::int32_t& at(Buffer buffer, std::int32_t block) { return contents(buffer)[static_cast<std::size_t>(block)]; }

  void exchange(const Step& step) {
    if (step.send_count + step.receive_count == 0) return;
    Round round(step);
    round.first_send = static_cast<std::uint32_t>(flow_.sends.size());
    round.first_receive = static_cast<std::uint32_t>(flow_.receives.size());
    for (const Message& message : schedule_.sends_of(step)) send(message);
    for (const Message& message : schedule_.receives_of(step)) receive(message);
    flow_.rounds.push_back(round);
  }

  void send(const Message& message) {
    const auto first = static_cast<std::uint32_t>(flow_.departing.size());
    for (const Run& run : schedule_.runs_of(message))
      for (std::int32_t i = 0; i < run.count; ++i) flow_.departing.push_back(at(run.buffer, run.block(i)));
    flow_.sends.push_back(
        {message.peer, first, static_cast<std::uint32_t>(flow_.departing.size()) - first, message.last});
  }

  void receive(const Message& message) {
    const std::uint32_t first = arrived_;
    for (const Run& run : schedule_.runs_of(message))
      for (std::int32_t i = 0; i < run.count; ++i)
        at(run.buffer, run.block(i)) = schedule_.ranks + static_cast<std::int32_t>(arrived_++);
    flow_.receives.push_back({message.peer, first, arrived_ - first, message.last});
  }

  /// What stays is what the receive buffer holds in the end; the other blocks get their final numbers.
  void settle() {
    flow_.arriving.assign(arrived_, 0);
    for (Rank source = 0; source < schedule_.ranks; ++source)
      if (const std::int32_t number = at(Buffer::receive, source); number >= schedule_.ranks)
        flow_.arriving[static_cast<std::size_t>(number - schedule_.ranks)] = -1 - source;
    for (std::int32_t& block : flow_.arriving)
      if (block == 0) block = schedule_.ranks + flow_.passed_on++;
    for (std::int32_t& block : flow_.departing)
      if (block >= schedule_.ranks) block = flow_.arriving[static_cast<std::size_t>(block - schedule_.ranks)];
  }

  const Schedule& schedule_;
  Flow flow_;
  std::vector<std::int32_t> contents_[3];
  std::uint32_t arrived_ = 0;
};

}  // namespace

Flow flow_of(const Schedule& schedule) { return Follower(schedule).follow(); }

std::int64_t peak_blocks(const Flow& flow) {
  const auto count = [](const Message& message) { return std::int64_t{message.count}; };
  return peak_memory(flow, count, [&](const Message& message) { return Room{count(message), 0}; });
}

}  // namespace swapmeet
