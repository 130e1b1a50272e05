/// The farthest that all other ranks can get while one rank stands still, for each place where it can.
#include "verify/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "model/counts.hpp"
#include "schedule/matching.hpp"

namespace swapmeet {

namespace {

constexpr std::int64_t most_events = 50'000'000;  ///< that certify(spec) looks at

/// Messages that a rank starts together, whatever others do: a batch, or a whole round whose window slides, since sends
/// may complete at once. Counted from the beginning of the exchange.
struct Stage {
  std::uint32_t sends_end, receives_end;
};

std::vector<Stage> stages_of(const Schedule& schedule) {
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
  std::uint32_t send;  ///< its number among the sends of the sender
};

/// All ranks, each with its own schedule.
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
  Source source(Rank rank, std::uint32_t receive) const {
    const Rank sender = schedule(rank).receives[receive].peer;
    return {sender, numbers_.send_of[numbers_.receives[static_cast<std::size_t>(rank)] + receive] -
                        numbers_.sends[static_cast<std::size_t>(sender)]};
  }

 private:
  std::span<const Schedule> schedules_;
  Numbering numbers_;
  std::vector<std::vector<Stage>> stages_;
};

/// All ranks on a grid, known by their places, each of which does what the one at place 0 does: its i-th receive is for
/// the i-th send of another (verify/symmetry.hpp).
class Alike {
 public:
  Alike(const Schedule& schedule, const Arrangement& grid)
      : schedule_(schedule), grid_(grid), stages_(stages_of(schedule)) {
    const std::int32_t place = grid.place_of[static_cast<std::size_t>(schedule.rank)];
    for (const Message& receive : schedule.receives)
      ways_.push_back(grid.shifted(place, grid.place_of[static_cast<std::size_t>(receive.peer)], -1));
  }

  Rank ranks() const { return schedule_.ranks; }
  std::span<const Stage> stages(Rank) const { return stages_; }
  const Schedule& schedule(Rank) const { return schedule_; }
  std::uint32_t sends(Rank) const { return static_cast<std::uint32_t>(schedule_.sends.size()); }
  Source source(Rank place, std::uint32_t receive) const { return {grid_.shifted(place, ways_[receive], -1), receive}; }

 private:
  const Schedule& schedule_;
  const Arrangement& grid_;
  std::vector<Stage> stages_;
  std::vector<std::int32_t> ways_;  ///< of each receive: from the sender to the receiver
};

/// One rank that posts its messages one after the other, and between any two of them stands still until nobody else can
/// move. The others are in this exchange or the next one: none gets farther before this rank is in the next one, too.
template <class Programs>
class StandingStill {
 public:
  StandingStill(const Programs& programs, Rank rank)
      : programs_(programs), rank_(rank), places_(static_cast<std::size_t>(programs.ranks())), queue_(places_.size()),
        first_waiting_(places_.size(), nobody), first_incoming_(places_.size() + 1, 0) {
    const auto receives = static_cast<std::uint32_t>(schedule().receives.size());
    for (std::uint32_t r = 0; r < receives; ++r)
      first_incoming_[static_cast<std::size_t>(programs.source(rank, r).sender) + 1] += 2;
    std::partial_sum(first_incoming_.begin(), first_incoming_.end(), first_incoming_.begin());
    incoming_.resize(first_incoming_.back());
    std::vector<std::uint32_t> next(first_incoming_.begin(), first_incoming_.end() - 1);
    for (std::uint32_t exchange = 0; exchange < 2; ++exchange)
      for (std::uint32_t r = 0; r < receives; ++r) {
        const Source from = programs.source(rank, r);
        incoming_[next[static_cast<std::size_t>(from.sender)]++] = {exchange * programs.sends(from.sender) + from.send,
                                                                    exchange * receives + r};
      }
    queue_.clear();
    for (Rank other = 0; other < programs.ranks(); ++other) {
      place(other).next_incoming = first_incoming_[static_cast<std::size_t>(other)];
      if (other != rank) queue_.push_back(other);
    }
  }

  /// Sets the early messages and blocks of the rank.
  void run(Certificate::Bounds& bounds) {
    look(bounds);  // it has not begun
    for (const Step& step : schedule().steps) {
      const std::uint32_t all = std::max(step.send_count, step.receive_count);
      for (std::uint32_t first = 0; first < all; first += step.in_flight()) {
        const std::uint32_t end = std::min(all, first + step.in_flight());
        if (step.posting == Posting::receives_first) {
          post_receives(step, end);
          post_sends(step, step.slides() ? step.send_count : end);
          look(bounds);
        } else {
          for (std::uint32_t i = first; i < end; ++i) {
            post_receives(step, i + 1);
            post_sends(step, i + 1);
            look(bounds);
          }
        }
        if (!step.slides()) continue;
        post_sends(step, step.send_count);  // each completes at once, and the next one starts
        look(bounds);
        post_receives(step, step.receive_count);
        break;
      }
    }
  }

 private:
  static constexpr Rank nobody = -1;

  struct Place {
    std::uint32_t posted_sends = 0;  ///< in this exchange and the next one
    std::uint32_t exchange = 0, stage = 0, receive = 0;
    bool begun = false;
    std::uint32_t next_incoming = 0;  ///< of its messages to the rank that stands still
    Rank next_waiting = nobody;       ///< for the same sender
    std::uint32_t wanted = 0;         ///< sends of that sender
  };
  struct Incoming {
    std::uint32_t send, receive;
  };

  const Schedule& schedule() const { return programs_.schedule(rank_); }
  Place& place(Rank rank) { return places_[static_cast<std::size_t>(rank)]; }

  std::int64_t blocks_of(std::uint32_t receive) const {
    return schedule().block_count(schedule().receives[receive % schedule().receives.size()]);
  }

  void post_receives(const Step& step, std::uint32_t end) {
    for (; posted_receives_ < step.first_receive + std::min(end, step.receive_count); ++posted_receives_) {
      const Source from = programs_.source(rank_, posted_receives_);
      if (place(from.sender).posted_sends <= from.send) continue;
      --early_messages_;
      early_blocks_ -= blocks_of(posted_receives_);
    }
  }

  void post_sends(const Step& step, std::uint32_t end) {
    place(rank_).posted_sends = step.first_send + std::min(end, step.send_count);
    wake(rank_);
  }

  void look(Certificate::Bounds& bounds) {
    while (!queue_.empty()) {
      const Rank rank = queue_.back();
      queue_.pop_back();
      advance(rank);
    }
    bounds.early_messages = std::max(bounds.early_messages, early_messages_);
    bounds.early_blocks = std::max(bounds.early_blocks, early_blocks_);
  }

  /// As far as `rank` gets.
  void advance(Rank rank) {
    Place& here = place(rank);
    const std::span<const Stage> stages = programs_.stages(rank);
    while (here.exchange < 2 && !stages.empty()) {
      for (; here.begun && here.receive < stages[here.stage].receives_end; ++here.receive) {
        const Source from = programs_.source(rank, here.receive);
        const std::uint32_t send = here.exchange * programs_.sends(from.sender) + from.send;
        if (place(from.sender).posted_sends > send) continue;
        here.wanted = send;
        here.next_waiting = std::exchange(first_waiting_[static_cast<std::size_t>(from.sender)], rank);
        return;
      }
      if (here.begun && ++here.stage == stages.size()) {
        here.stage = here.receive = 0;
        if (++here.exchange == 2) return;
      }
      here.begun = true;
      here.posted_sends = here.exchange * programs_.sends(rank) + stages[here.stage].sends_end;
      arrive(rank);
      wake(rank);
    }
  }

  /// What `sender` has sent to the rank that stands still.
  void arrive(Rank sender) {
    Place& from = place(sender);
    for (; from.next_incoming < first_incoming_[static_cast<std::size_t>(sender) + 1]; ++from.next_incoming) {
      const Incoming& message = incoming_[from.next_incoming];
      if (message.send >= from.posted_sends) return;
      if (message.receive < posted_receives_) continue;
      ++early_messages_;
      early_blocks_ += blocks_of(message.receive);
    }
  }

  void wake(Rank sender) {
    Rank waiting = std::exchange(first_waiting_[static_cast<std::size_t>(sender)], nobody);
    while (waiting != nobody) {
      Place& here = place(waiting);
      const Rank next = std::exchange(here.next_waiting, nobody);
      if (here.wanted < place(sender).posted_sends) queue_.push_back(waiting);
      else here.next_waiting = std::exchange(first_waiting_[static_cast<std::size_t>(sender)], waiting);
      waiting = next;
    }
  }

  const Programs& programs_;
  Rank rank_;
  std::vector<Place> places_;
  std::vector<Rank> queue_;                    ///< ranks that may be able to move
  std::vector<Rank> first_waiting_;            ///< for each rank
  std::vector<std::uint32_t> first_incoming_;  ///< for each sender, in incoming_
  std::vector<Incoming> incoming_;
  std::uint32_t posted_receives_ = 0;
  std::int64_t early_messages_ = 0, early_blocks_ = 0;
};

/// What its own schedule says of a rank.
Certificate::Bounds own_bounds(const Schedule& schedule) {
  Certificate::Bounds bounds{.scratch_blocks = schedule.scratch_blocks};
  for (const Step& step : schedule.steps) {
    const auto in_batch = [&](std::uint32_t count, std::uint32_t first) {
      return std::int64_t{std::min(count - std::min(count, first), step.in_flight())};
    };
    for (std::uint32_t first = 0; first < std::max(step.send_count, step.receive_count); first += step.in_flight()) {
      bounds.requests =
          std::max(bounds.requests, in_batch(step.send_count, first) + in_batch(step.receive_count, first));
      if (step.slides()) break;
    }
  }
  std::vector<Rank> peers;
  for (const Message& message : schedule.sends) peers.push_back(message.peer);
  for (const Message& message : schedule.receives) peers.push_back(message.peer);
  std::ranges::sort(peers);
  bounds.peers = std::ranges::unique(peers).begin() - peers.begin();
  return bounds;
}

void each_number(Certificate::Bounds& to, const Certificate::Bounds& from, auto combine) {
  for (const auto number :
       {&Certificate::Bounds::requests, &Certificate::Bounds::peers, &Certificate::Bounds::early_messages,
        &Certificate::Bounds::early_blocks, &Certificate::Bounds::scratch_blocks})
    to.*number = combine(to.*number, from.*number);
}

std::int64_t largest(std::int64_t a, std::int64_t b) { return std::max(a, b); }

/// The node of each rank, numbered from 0 in the order of ranks.
std::vector<std::size_t> node_numbers(const Shape& shape) {
  std::vector<std::size_t> numbers(static_cast<std::size_t>(shape.ranks), 0);
  if (shape.hierarchy.empty()) return numbers;
  std::vector<std::int32_t> names = shape.hierarchy.front();
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  for (std::size_t r = 0; r < numbers.size(); ++r)
    numbers[r] = static_cast<std::size_t>(std::ranges::lower_bound(names, shape.hierarchy.front()[r]) - names.begin());
  return numbers;
}

std::int64_t largest_node(const std::vector<std::size_t>& nodes) {
  std::vector<std::int64_t> ranks(nodes.size(), 0);
  for (const std::size_t node : nodes) ++ranks[node];
  return std::ranges::max(ranks);
}

/// Ranks of a node, if all nodes are equal and follow one another; else all ranks.
Rank ranks_to_look_at(const std::vector<std::size_t>& nodes) {
  const auto ranks = static_cast<std::int64_t>(nodes.size()), size = largest_node(nodes);
  for (std::int64_t r = 0; r < ranks; ++r)
    if (static_cast<std::int64_t>(nodes[static_cast<std::size_t>(r)]) != r / size) return static_cast<Rank>(ranks);
  return static_cast<Rank>(ranks % size == 0 ? size : ranks);
}

/// Whether two ranks send and receive alike, each as seen from itself.
bool alike(const Schedule& a, const Schedule& b) {
  const auto same_rounds = [](const Step& one, const Step& other) {
    return one.send_count == other.send_count && one.receive_count == other.receive_count &&
           one.window == other.window && one.completion == other.completion && one.posting == other.posting;
  };
  const auto same_messages = [&](const std::vector<Message>& one, const std::vector<Message>& other) {
    return std::ranges::equal(one, other, [&](const Message& m, const Message& n) {
      return (m.peer - a.rank + a.ranks) % a.ranks == (n.peer - b.rank + b.ranks) % b.ranks &&
             a.block_count(m) == b.block_count(n);
    });
  };
  return std::ranges::equal(a.steps, b.steps, same_rounds) && same_messages(a.sends, b.sends) &&
         same_messages(a.receives, b.receives);
}

Certificate of_alike(const Certificate::Bounds& rank, const Shape& shape, bool exact) {
  Certificate certificate{rank, {}, exact};
  const std::int64_t ranks = largest_node(node_numbers(shape));
  each_number(certificate.node, rank, [&](std::int64_t, std::int64_t number) { return ranks * number; });
  return certificate;
}

/// Messages and blocks that a rank receives at most.
struct Received {
  std::int64_t messages, blocks;
};

Received received(const Spec& spec, const Counts& counts) {
  if (spec.family != Family::leaders) return {counts.messages, counts.blocks};
  const std::int64_t members = counts.sizes[0], nodes = counts.sizes[1];
  // From members their blocks, and those to be passed on; from nodes; from the leaders.
  return {3 * (members - 1) + nodes - 1, counts.blocks + 2 * members * members * nodes};
}

/// Of a direct exchange in the order of shift, in batches of `window`: docs/proofs.md.
std::int64_t early_in_batches(std::int64_t ranks, std::int64_t window) {
  const double batches = std::ceil(std::sqrt(8.0 * static_cast<double>(ranks) / static_cast<double>(window) + 4));
  return window * (static_cast<std::int64_t>(batches) + 2);
}

}  // namespace

Certificate certify(std::span<const Schedule> schedules, const Shape& shape) {
  const Each programs(schedules);
  const std::vector<std::size_t> nodes = node_numbers(shape);
  std::size_t period = static_cast<std::size_t>(ranks_to_look_at(nodes));
  for (std::size_t r = period; r < schedules.size(); ++r)
    if (!alike(schedules[r - period], schedules[r])) period = schedules.size();
  std::vector<Certificate::Bounds> of_rank;
  for (const Schedule& schedule : schedules) of_rank.push_back(own_bounds(schedule));
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    if (r < period) StandingStill(programs, static_cast<Rank>(r)).run(of_rank[r]);
    of_rank[r].early_messages = of_rank[r % period].early_messages;
    of_rank[r].early_blocks = of_rank[r % period].early_blocks;
  }
  Certificate certificate;
  certificate.exact = true;
  std::vector<Certificate::Bounds> of_node(schedules.size());
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    each_number(certificate.rank, of_rank[r], largest);
    each_number(of_node[nodes[r]], of_rank[r], std::plus{});
  }
  for (const Certificate::Bounds& bounds : of_node) each_number(certificate.node, bounds, largest);
  return certificate;
}

Certificate certify(const Spec& spec, const Shape& shape) {
  const Counts counts = count(spec, shape);
  const std::int64_t of_all = 2 * shape.ranks * counts.messages;
  if (const std::optional<Arrangement> grid = alike_on(spec, shape)) {
    if (of_all > most_events) return ceiling(spec, shape);
    const Schedule schedule = generate(spec, shape, 0);
    Certificate::Bounds bounds = own_bounds(schedule);
    StandingStill(Alike(schedule, *grid), grid->place_of[0]).run(bounds);
    bounds.scratch_blocks = counts.scratch_blocks;
    return of_alike(bounds, shape, true);
  }
  if (of_all > most_events / ranks_to_look_at(node_numbers(shape)) || shape.ranks > 1024) return ceiling(spec, shape);
  std::vector<Schedule> schedules;
  for (Rank rank = 0; rank < shape.ranks; ++rank) schedules.push_back(generate(spec, shape, rank));
  return certify(schedules, shape);
}

Certificate ceiling(const Spec& spec, const Shape& shape) {
  const Counts counts = count(spec, shape);
  const Received arriving = received(spec, counts);
  const std::int64_t others = shape.ranks - 1, window = spec.window == 0 ? INT64_MAX : spec.window;
  // A window of leaders, and of nodes with proxies, holds more messages than its number says.
  const bool counted = spec.family != Family::leaders && !counts.ranks_differ;
  Certificate::Bounds rank{
      .requests = counted ? 2 * std::min(window, counts.messages) : counts.messages + arriving.messages,
      .peers = std::min(others, counts.messages + arriving.messages),
      .early_messages = 2 * arriving.messages,
      .early_blocks = 2 * arriving.blocks,
      .scratch_blocks = counts.scratch_blocks};
  bool exact = false;
  if (spec.family == Family::direct) {
    const bool batches = spec.completion == Completion::all;
    exact = window >= others || !batches;
    if (window >= others) rank.early_messages = others;
    else if (!batches) rank.early_messages = 2 * others - window;
    else if (spec.order == Order::shift)
      rank.early_messages = std::min(2 * others, early_in_batches(shape.ranks, window));
    rank.early_blocks = rank.early_messages;
    rank.peers = others;
  }
  return of_alike(rank, shape, exact);
}

std::int64_t early_bytes(const Certificate::Bounds& bounds, std::int64_t block_bytes) {
  const std::int64_t entries = bounds.early_messages * early_entry_bytes,
                     most = bounds.early_messages * most_early_bytes;
  const bool all = bounds.early_blocks > 0 && block_bytes >= (most - entries) / bounds.early_blocks;
  return all ? most : entries + bounds.early_blocks * block_bytes;
}

}  // namespace swapmeet
