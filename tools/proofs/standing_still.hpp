/// The greatest number of early messages at one rank: at each position where this rank can stop, all other ranks
/// advance as far as they can.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "proofs/matching.hpp"
#include "topology/arrangement.hpp"
#include "proofs/certificate.hpp"

namespace swapmeet {

/// The messages that a rank starts together, whatever other ranks do: a batch, or a whole round if its window slides,
/// since sends may complete at once. Numbers count from the beginning of the exchange.
struct Stage {
  std::uint32_t sends_end, receives_end;
};

inline std::vector<Stage> stages_of(const Schedule& schedule) {
  std::vector<Stage> stages;
  for (const Step& step : schedule.steps) {
    const std::uint32_t all = std::max(step.send_count, step.receive_count),
                        width = step.slides() ? all : step.in_flight();
    for (std::uint32_t first = 0; first < all; first += width)
      stages.push_back({step.first_send + std::min(first + width, step.send_count),
                        step.first_receive + std::min(first + width, step.receive_count)});
  }
  return stages;
}

struct Source {
  Rank sender;
  std::uint32_t send;  ///< number among the sends of the sender
};

struct Target {
  Rank receiver;
  std::uint32_t receive;  ///< number among the receives of the receiver
};

/// Whether sends wait for a grant; either all messages of a schedule are granted, or none.
inline bool grants(const Schedule& schedule) {
  return std::ranges::any_of(schedule.steps, [](const Step& step) { return step.posting == Posting::granted; });
}

/// Whether messages start one by one as others are granted. The progress of ranks is then not followed.
inline bool slides_by_grants(const Schedule& schedule) {
  return grants(schedule) && std::ranges::any_of(schedule.steps, [](const Step& step) { return step.slides(); });
}

/// The programs of all ranks, each with its own schedule.
class Each {
 public:
  explicit Each(std::span<const Schedule> schedules)
      : schedules_(schedules), numbers_(match(schedules, [](const std::string&) {})) {
    for (const Schedule& schedule : schedules) stages_.push_back(stages_of(schedule));
  }

  Rank ranks() const { return static_cast<Rank>(schedules_.size()); }
  std::span<const Stage> stages(Rank rank) const { return stages_[static_cast<std::size_t>(rank)]; }
  const Schedule& schedule(Rank rank) const { return schedules_[static_cast<std::size_t>(rank)]; }
  std::uint32_t sends(Rank rank) const { return static_cast<std::uint32_t>(schedule(rank).sends.size()); }
  std::uint32_t receives(Rank rank) const { return static_cast<std::uint32_t>(schedule(rank).receives.size()); }
  Source source(Rank rank, std::uint32_t receive) const {
    const Rank sender = schedule(rank).receives[receive].peer;
    return {sender, numbers_.send_of[numbers_.receives[static_cast<std::size_t>(rank)] + receive] -
                        numbers_.sends[static_cast<std::size_t>(sender)]};
  }
  Target target(Rank rank, std::uint32_t send) const {
    const Rank receiver = schedule(rank).sends[send].peer;
    return {receiver, numbers_.receive_of[numbers_.sends[static_cast<std::size_t>(rank)] + send] -
                          numbers_.receives[static_cast<std::size_t>(receiver)]};
  }

 private:
  std::span<const Schedule> schedules_;
  Numbering numbers_;
  std::vector<std::vector<Stage>> stages_;
};

/// The programs of all ranks on a grid, identified by their places, if each does the same as the one at place 0: its
/// i-th receive is for the i-th send of another rank (proofs/symmetry.hpp).
class Alike {
 public:
  Alike(const Schedule& schedule, const Arrangement& grid)
      : schedule_(schedule), grid_(grid), stages_(stages_of(schedule)) {
    const std::int32_t place = grid.place_of[static_cast<std::size_t>(schedule.rank)];
    for (const Message& receive : schedule.receives)
      ways_.push_back(grid.shifted(place, grid.place_of[static_cast<std::size_t>(receive.peer)], -1));
    for (const Message& send : schedule.sends)
      ways_out_.push_back(grid.shifted(grid.place_of[static_cast<std::size_t>(send.peer)], place, -1));
  }

  Rank ranks() const { return schedule_.ranks; }
  std::span<const Stage> stages(Rank) const { return stages_; }
  const Schedule& schedule(Rank) const { return schedule_; }
  std::uint32_t sends(Rank) const { return static_cast<std::uint32_t>(schedule_.sends.size()); }
  std::uint32_t receives(Rank) const { return static_cast<std::uint32_t>(schedule_.receives.size()); }
  Source source(Rank place, std::uint32_t receive) const { return {grid_.shifted(place, ways_[receive], -1), receive}; }
  Target target(Rank place, std::uint32_t send) const { return {grid_.shifted(place, ways_out_[send], 1), send}; }

 private:
  const Schedule& schedule_;
  const Arrangement& grid_;
  std::vector<Stage> stages_;
  /// shift on the grid from sender to receiver, of each receive and of each send
  std::vector<std::int32_t> ways_, ways_out_;
};

/// An execution in which one rank posts its messages one after the other and, between any two of them, stops until no
/// other rank can proceed. The others are in this exchange or the next one; none can get further before this rank is in
/// the next one, too.
///
/// The early messages at this rank are the messages whose receives it has not posted. If sends wait for a grant, no
/// such message is early; then the grants of sends that it has not posted are counted. A message ends once both ends
/// have posted it.
template <class Programs>
class StandingStill {
 public:
  StandingStill(const Programs& programs, Rank rank)
      : programs_(programs), rank_(rank), granted_(grants(programs.schedule(rank))),
        places_(static_cast<std::size_t>(programs.ranks())), queue_(places_.size()),
        first_waiting_(places_.size(), nobody), first_incoming_(places_.size() + 1, 0) {
    const std::uint32_t count = granted_ ? programs.sends(rank) : programs.receives(rank);
    for (std::uint32_t i = 0; i < count; ++i) first_incoming_[static_cast<std::size_t>(other_end(i).rank) + 1] += 2;
    std::partial_sum(first_incoming_.begin(), first_incoming_.end(), first_incoming_.begin());
    incoming_.resize(first_incoming_.back());
    std::vector<std::uint32_t> next(first_incoming_.begin(), first_incoming_.end() - 1);
    for (std::uint32_t exchange = 0; exchange < 2; ++exchange)
      for (std::uint32_t i = 0; i < count; ++i) {
        const End other = other_end(i);
        incoming_[next[static_cast<std::size_t>(other.rank)]++] = {exchange * other.all + other.number,
                                                                   exchange * count + i};
      }
    queue_.clear();
    for (Rank other = 0; other < programs.ranks(); ++other) {
      place(other).next_incoming = first_incoming_[static_cast<std::size_t>(other)];
      if (other != rank) queue_.push_back(other);
    }
  }

  /// Sets the numbers of early messages and blocks of the rank.
  void run(ExchangeBounds& bounds) {
    look(bounds);  // before the rank begins
    for (const Step& step : schedule().steps) {
      const std::uint32_t all = std::max(step.send_count, step.receive_count);
      for (std::uint32_t first = 0; first < all; first += step.in_flight()) {
        const std::uint32_t end = std::min(all, first + step.in_flight());
        if (step.posting == Posting::receives_first) {
          post_receives(step, end);
          post_sends(step, step.slides() ? step.send_count : end);
          look(bounds);
        } else if (granted_) {
          post_receives(step, end);
          for (std::uint32_t i = first; i < end; ++i) {
            look(bounds);
            post_sends(step, i + 1);
          }
          look(bounds);
        } else {
          for (std::uint32_t i = first; i < end; ++i) {
            post_receives(step, i + 1);
            post_sends(step, i + 1);
            look(bounds);
          }
        }
        if (!step.slides()) continue;
        post_sends(step, step.send_count);  // each send completes at once, and the next one starts
        look(bounds);
        post_receives(step, step.receive_count);
        break;
      }
    }
  }

 private:
  static constexpr Rank nobody = -1;

  struct Place {
    std::uint32_t posted_sends = 0, posted_receives = 0;  ///< numbers in this exchange and the next one
    std::uint32_t exchange = 0, stage = 0, receive = 0, send = 0;
    bool begun = false;
    std::uint32_t next_incoming = 0;  ///< next of its messages, or grants, to the stopped rank
    Rank next_waiting = nobody;       ///< next rank that waits for the same rank
    std::uint32_t wanted = 0;         ///< number of sends (or receives) of that rank for which this one waits
    bool wants_receive = false;
  };
  /// A message to the stopped rank: its number among the posts of the other rank, and of the stopped rank.
  struct Incoming {
    std::uint32_t theirs, mine;
  };
  /// The other end of a receive, or of a send if sends are granted: its rank, its number, and the number of such
  /// messages of its rank.
  struct End {
    Rank rank;
    std::uint32_t number, all;
  };

  End other_end(std::uint32_t mine) const {
    if (granted_) {
      const Target to = programs_.target(rank_, mine);
      return {to.receiver, to.receive, programs_.receives(to.receiver)};
    }
    const Source from = programs_.source(rank_, mine);
    return {from.sender, from.send, programs_.sends(from.sender)};
  }

  const Schedule& schedule() const { return programs_.schedule(rank_); }
  Place& place(Rank rank) { return places_[static_cast<std::size_t>(rank)]; }

  std::int64_t blocks_of(std::uint32_t receive) const {
    return schedule().block_count(schedule().receives[receive % schedule().receives.size()]);
  }

  void post_receives(const Step& step, std::uint32_t end) {
    Place& here = place(rank_);
    for (; here.posted_receives < step.first_receive + std::min(end, step.receive_count); ++here.posted_receives) {
      const Source from = programs_.source(rank_, here.posted_receives);
      if (granted_ || place(from.sender).posted_sends <= from.send) continue;
      --early_messages_;
      early_blocks_ -= blocks_of(here.posted_receives);
    }
    if (granted_) wake(rank_);
  }

  void post_sends(const Step& step, std::uint32_t end) {
    Place& here = place(rank_);
    for (; here.posted_sends < step.first_send + std::min(end, step.send_count); ++here.posted_sends) {
      if (!granted_) continue;
      const Target to = programs_.target(rank_, here.posted_sends);
      if (place(to.receiver).posted_receives > to.receive) --early_messages_;
    }
    wake(rank_);
  }

  void look(ExchangeBounds& bounds) {
    while (!queue_.empty()) {
      const Rank rank = queue_.back();
      queue_.pop_back();
      advance(rank);
    }
    bounds.early_messages = std::max(bounds.early_messages, early_messages_);
    bounds.early_blocks = std::max(bounds.early_blocks, early_blocks_);
  }

  /// Advances `rank` as far as possible.
  void advance(Rank rank) {
    Place& here = place(rank);
    const std::span<const Stage> stages = programs_.stages(rank);
    while (here.exchange < 2 && !stages.empty()) {
      for (; here.begun && here.receive < stages[here.stage].receives_end; ++here.receive) {
        const Source from = programs_.source(rank, here.receive);
        const std::uint32_t send = here.exchange * programs_.sends(from.sender) + from.send;
        if (place(from.sender).posted_sends <= send) return wait(rank, from.sender, send, false);
      }
      for (; granted_ && here.begun && here.send < stages[here.stage].sends_end; ++here.send) {
        const Target to = programs_.target(rank, here.send);
        const std::uint32_t receive = here.exchange * programs_.receives(to.receiver) + to.receive;
        if (place(to.receiver).posted_receives <= receive) return wait(rank, to.receiver, receive, true);
      }
      if (here.begun && ++here.stage == stages.size()) {
        here.stage = here.receive = here.send = 0;
        if (++here.exchange == 2) return;
      }
      here.begun = true;
      here.posted_sends = here.exchange * programs_.sends(rank) + stages[here.stage].sends_end;
      here.posted_receives = here.exchange * programs_.receives(rank) + stages[here.stage].receives_end;
      arrive(rank);
      wake(rank);
    }
  }

  /// Counts the messages that `other` has sent to the stopped rank.
  void arrive(Rank other) {
    Place& from = place(other);
    const Place& mine = place(rank_);
    for (; from.next_incoming < first_incoming_[static_cast<std::size_t>(other) + 1]; ++from.next_incoming) {
      const Incoming& message = incoming_[from.next_incoming];
      if (message.theirs >= (granted_ ? from.posted_receives : from.posted_sends)) return;
      if (message.mine < (granted_ ? mine.posted_sends : mine.posted_receives)) continue;
      ++early_messages_;
      if (!granted_) early_blocks_ += blocks_of(message.mine);
    }
  }

  void wait(Rank rank, Rank peer, std::uint32_t wanted, bool wants_receive) {
    Place& here = place(rank);
    here.wanted = wanted;
    here.wants_receive = wants_receive;
    here.next_waiting = std::exchange(first_waiting_[static_cast<std::size_t>(peer)], rank);
  }

  void wake(Rank peer) {
    const Place& there = place(peer);
    Rank waiting = std::exchange(first_waiting_[static_cast<std::size_t>(peer)], nobody);
    while (waiting != nobody) {
      Place& here = place(waiting);
      const Rank next = std::exchange(here.next_waiting, nobody);
      if (here.wanted < (here.wants_receive ? there.posted_receives : there.posted_sends)) queue_.push_back(waiting);
      else here.next_waiting = std::exchange(first_waiting_[static_cast<std::size_t>(peer)], waiting);
      waiting = next;
    }
  }

  const Programs& programs_;
  Rank rank_;
  bool granted_;
  std::vector<Place> places_;
  std::vector<Rank> queue_;                    ///< ranks that may be able to proceed
  std::vector<Rank> first_waiting_;            ///< first rank that waits for each rank
  std::vector<std::uint32_t> first_incoming_;  ///< start of each sender's part of incoming_
  std::vector<Incoming> incoming_;
  std::int64_t early_messages_ = 0, early_blocks_ = 0;
};

}  // namespace swapmeet
