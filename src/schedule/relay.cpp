#include "schedule/relay.hpp"

#include <algorithm>

namespace swapmeet {

namespace {

/// Follows blocks through the buffers of one rank. While it does, arriving block i has the number P + i.
class Follower {
 public:
  explicit Follower(const Schedule& schedule) : schedule_(schedule) {
    relay_.ranks = schedule.ranks;
    relay_.rank = schedule.rank;
    for (const Buffer buffer : {Buffer::send, Buffer::receive, Buffer::scratch})
      contents(buffer).assign(static_cast<std::size_t>(schedule.blocks_in(buffer)), 0);
    for (Rank d = 0; d < schedule.ranks; ++d) at(Buffer::send, d) = d;
  }

  Relay follow() && {
    for (std::size_t s = 0; s < schedule_.steps.size(); ++s) {
      const Step& step = schedule_.steps[s];
      // Operations of a step are independent, so the copies may come first.
      for (const Copy& copy : schedule_.copies_of(step))
        for (std::int32_t i = 0; i < copy.from.count; ++i)
          at(copy.to.buffer, copy.to.block(i)) = at(copy.from.buffer, copy.from.block(i));
      exchange(step, static_cast<std::uint32_t>(s));
    }
    settle();
    return std::move(relay_);
  }

 private:
  std::vector<std::int32_t>& contents(Buffer buffer) { return contents_[static_cast<std::size_t>(buffer)]; }
  std::int32_t& at(Buffer buffer, std::int32_t block) { return contents(buffer)[static_cast<std::size_t>(block)]; }

  void exchange(const Step& step, std::uint32_t number) {
    const auto sends = schedule_.sends_of(step), receives = schedule_.receives_of(step);
    const std::size_t window = step.in_flight();
    for (std::size_t first = 0; first < std::max(sends.size(), receives.size()); first += window) {
      Relay::Round round{static_cast<std::uint32_t>(relay_.sends.size()),
                         0,
                         static_cast<std::uint32_t>(relay_.receives.size()),
                         0,
                         number,
                         static_cast<std::uint32_t>(first / window)};
      for (std::size_t i = first; i < std::min(first + window, sends.size()); ++i, ++round.send_count) send(sends[i]);
      for (std::size_t i = first; i < std::min(first + window, receives.size()); ++i, ++round.receive_count)
        receive(receives[i]);
      relay_.rounds.push_back(round);
    }
  }

  void send(const Message& message) {
    const auto first = static_cast<std::uint32_t>(relay_.departing.size());
    for (const Run& run : schedule_.runs_of(message))
      for (std::int32_t i = 0; i < run.count; ++i) relay_.departing.push_back(at(run.buffer, run.block(i)));
    relay_.sends.push_back(
        {message.peer, message.last, first, static_cast<std::uint32_t>(relay_.departing.size()) - first});
  }

  void receive(const Message& message) {
    const std::uint32_t first = arrived_;
    for (const Run& run : schedule_.runs_of(message))
      for (std::int32_t i = 0; i < run.count; ++i)
        at(run.buffer, run.block(i)) = schedule_.ranks + static_cast<std::int32_t>(arrived_++);
    relay_.receives.push_back({message.peer, message.last, first, arrived_ - first});
  }

  /// What stays is what the receive buffer holds in the end; the other blocks get their final numbers.
  void settle() {
    relay_.arriving.assign(arrived_, 0);
    for (Rank source = 0; source < schedule_.ranks; ++source)
      if (const std::int32_t number = at(Buffer::receive, source); number >= schedule_.ranks)
        relay_.arriving[static_cast<std::size_t>(number - schedule_.ranks)] = -1 - source;
    for (std::int32_t& block : relay_.arriving)
      if (block == 0) block = schedule_.ranks + relay_.passed_on++;
    for (std::int32_t& block : relay_.departing)
      if (block >= schedule_.ranks) block = relay_.arriving[static_cast<std::size_t>(block - schedule_.ranks)];
  }

  const Schedule& schedule_;
  Relay relay_;
  std::vector<std::int32_t> contents_[3];
  std::uint32_t arrived_ = 0;
};

}  // namespace

Relay relay_of(const Schedule& schedule) { return Follower(schedule).follow(); }

std::int64_t Relay::peak_blocks() const {
  std::vector<std::uint32_t> message_of(static_cast<std::size_t>(passed_on));  // that a block came with
  std::vector<std::uint32_t> waiting(receives.size(), 0);  // blocks of a message that are still to be passed on
  std::int64_t kept = 0, peak = 0;
  for (const Round& round : rounds) {
    std::int64_t in_flight = 0;
    for (const Bundle& bundle : sends_of(round)) in_flight += bundle.count;
    for (std::uint32_t i = round.first_receive; i < round.first_receive + round.receive_count; ++i) {
      kept += receives[i].count;
      for (const std::int32_t block : blocks_of(receives[i], arriving))
        if (block >= ranks) message_of[static_cast<std::size_t>(block - ranks)] = i, ++waiting[i];
    }
    peak = std::max(peak, kept + in_flight);
    for (std::uint32_t i = round.first_receive; i < round.first_receive + round.receive_count; ++i)
      if (waiting[i] == 0) kept -= receives[i].count;
    for (const Bundle& bundle : sends_of(round))
      for (const std::int32_t block : blocks_of(bundle, departing)) {
        if (block < ranks) continue;
        const std::uint32_t i = message_of[static_cast<std::size_t>(block - ranks)];
        if (--waiting[i] == 0) kept -= receives[i].count;
      }
  }
  return peak;
}

}  // namespace swapmeet
