/// Brute force over completion orders, to check the arguments in verify.hpp. It shares no code with the proof except
/// the matching of messages, and implements the rule of windows independently.
#include <algorithm>
#include <bit>
#include <unordered_set>

#include "proofs/matching.hpp"
#include "schedule/names.hpp"
#include "search/search.hpp"
#include "proofs/checks.hpp"

namespace swapmeet {

namespace {

/// The completed messages of one rank in its current step, as bit sets.
struct Local {
  std::uint32_t step = 0, sends_done = 0, receives_done = 0;
};

using State = std::vector<Local>;

std::string key(const State& state) {
  return {reinterpret_cast<const char*>(state.data()), state.size() * sizeof(Local)};
}

std::uint32_t full(std::uint32_t count) { return count == 32 ? UINT32_MAX : (1u << count) - 1; }

class Search {
 public:
  Search(std::span<const Schedule> schedules, const Numbering& numbers) : schedules_(schedules), numbers_(numbers) {}

  void run(std::int64_t most_states, std::int64_t& states, Verdict& verdict) {
    State first(schedules_.size());
    for (std::size_t r = 0; r < first.size(); ++r) skip_finished(r, first[r]);
    visit(first);
    for (states = 0; !open_.empty(); ++states) {
      if (states == most_states) return verdict.add("more than " + std::to_string(most_states) + " states");
      const State state = open_.back();
      open_.pop_back();
      if (const std::string problem = collision(state); !problem.empty()) return verdict.add(problem);
      if (!expand(state)) return verdict.add("deadlock in some order of completion");
    }
  }

 private:
  const Step& step(std::size_t r, const Local& local) const { return schedules_[r].steps[local.step]; }
  bool ended(std::size_t r, const Local& local) const { return local.step == schedules_[r].steps.size(); }

  void visit(const State& state) {
    if (seen_.insert(key(state)).second) open_.push_back(state);
  }

  void skip_finished(std::size_t r, Local& local) const {
    while (!ended(r, local) && local.sends_done == full(step(r, local).send_count) &&
           local.receives_done == full(step(r, local).receive_count))
      local = {local.step + 1, 0, 0};
  }

  /// Returns how many sends (receives) of the current step have started, by the definition of Step.
  std::uint32_t started(std::size_t r, const Local& local, bool sends) const {
    const Step& now = step(r, local);
    const std::uint32_t window = now.in_flight();
    const std::uint32_t count = sends ? now.send_count : now.receive_count;
    if (now.completion != Completion::all)
      return std::min<std::uint32_t>(count, window + std::popcount(sends ? local.sends_done : local.receives_done));
    std::uint32_t begin = 0;  // of the first unfinished batch
    while (begin < count && (batch_done(local.sends_done, begin, window, now.send_count) &&
                             batch_done(local.receives_done, begin, window, now.receive_count)))
      begin += window;
    return std::min(count, begin + window);
  }

  static bool batch_done(std::uint32_t done, std::uint32_t begin, std::uint32_t window, std::uint32_t count) {
    const std::uint32_t end = std::min(count, begin + window);
    const std::uint32_t batch = begin >= end ? 0 : full(end) & ~full(begin);
    return (done & batch) == batch;
  }

  /// Whether a message of rank r has started. It may also have ended.
  bool has_started(const State& state, std::size_t r, std::uint32_t index, bool sends) const {
    const Local& local = state[r];
    if (ended(r, local)) return true;
    const std::uint32_t first = sends ? step(r, local).first_send : step(r, local).first_receive;
    return index < first + started(r, local, sends);
  }

  /// Returns a conflict: two messages in flight at one rank, of which one writes a block that the other reads or
  /// writes. Copies count as in flight throughout their step. "" if there is no conflict.
  std::string collision(const State& state) const {
    for (std::size_t r = 0; r < state.size(); ++r) {
      if (ended(r, state[r])) continue;
      const Step& now = step(r, state[r]);
      std::vector<std::pair<Run, bool>> uses;  // block range, and whether it is written
      std::vector<std::size_t> operations;     // index of the operation of each use
      for (const Copy& copy : schedules_[r].copies_of(now)) {
        const std::size_t number = operations.empty() ? 0 : operations.back() + 1;
        uses.insert(uses.end(), {{copy.from, false}, {copy.to, true}});
        operations.insert(operations.end(), 2, number);
      }
      for (const bool sends : {true, false}) {
        const auto messages = sends ? schedules_[r].sends_of(now) : schedules_[r].receives_of(now);
        const std::uint32_t done = sends ? state[r].sends_done : state[r].receives_done;
        for (std::uint32_t i = 0; i < started(r, state[r], sends); ++i) {
          if (done >> i & 1) continue;
          const std::size_t number = operations.empty() ? 0 : operations.back() + 1;
          for (const Run& run : schedules_[r].runs_of(messages[i])) {
            uses.emplace_back(run, !sends);
            operations.push_back(number);
          }
        }
      }
      for (std::size_t a = 0; a < uses.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
          if (operations[a] != operations[b] && (uses[a].second || uses[b].second) &&
              overlap(uses[a].first, uses[b].first))
            return "rank " + std::to_string(r) + ", step " + std::to_string(state[r].step) + ": " +
                   to_text(uses[a].first) + " is touched while " + to_text(uses[b].first) + " is in use";
    }
    return "";
  }

  static bool overlap(const Run& a, const Run& b) {
    for (std::int32_t i = 0; a.buffer == b.buffer && i < a.count; ++i)
      for (std::int32_t k = 0; k < b.count; ++k)
        if (a.block(i) == b.block(k)) return true;
    return false;
  }

  /// Adds the successors of `state`. Returns false if it is not the end, and rendezvous alone cannot leave it.
  bool expand(const State& state) {
    bool moves = false, all_ended = true;
    for (std::size_t r = 0; r < state.size(); ++r) {
      if (ended(r, state[r])) continue;
      all_ended = false;
      for (const bool sends : {true, false}) moves |= complete(state, r, sends);
    }
    return moves || all_ended;
  }

  /// Adds the successors by completion of one started send (receive) of rank r. Returns whether one of them is a
  /// rendezvous.
  bool complete(const State& state, std::size_t r, bool sends) {
    const Local& local = state[r];
    const std::uint32_t done = sends ? local.sends_done : local.receives_done;
    const std::uint32_t first = sends ? step(r, local).first_send : step(r, local).first_receive;
    bool rendezvous = false;
    for (std::uint32_t i = 0; i < started(r, local, sends); ++i) {
      if (done >> i & 1) continue;
      const Message& message = (sends ? schedules_[r].sends : schedules_[r].receives)[first + i];
      const auto peer = static_cast<std::size_t>(message.peer);
      const std::uint32_t other = sends ? numbers_.receive_of[numbers_.sends[r] + first + i] - numbers_.receives[peer]
                                        : numbers_.send_of[numbers_.receives[r] + first + i] - numbers_.sends[peer];
      const bool both = has_started(state, peer, other, !sends);
      if (!both && !sends) continue;  // a buffered send may complete alone, a receive needs its send
      rendezvous |= both;
      State next = state;
      (sends ? next[r].sends_done : next[r].receives_done) |= 1u << i;
      skip_finished(r, next[r]);
      visit(next);
    }
    return rendezvous;
  }

  std::span<const Schedule> schedules_;
  const Numbering& numbers_;
  std::unordered_set<std::string> seen_;
  std::vector<State> open_;
};

}  // namespace

Verdict search_orders(std::span<const Schedule> schedules, std::int64_t most_states, std::int64_t& states) {
  Verdict verdict;
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    check_head(schedules[r], static_cast<Rank>(schedules.size()), static_cast<Rank>(r), schedules[0], verdict);
    if (verdict.proved()) check_bounds(schedules[r], verdict);
  }
  for (const Schedule& schedule : schedules)
    for (const Step& step : schedule.steps)
      if (std::max(step.send_count, step.receive_count) > 32) verdict.add("more than 32 messages in a step");
  if (!verdict.proved()) return verdict;
  const Numbering numbers = match(schedules, std::bind_front(&Verdict::add, &verdict));
  if (!verdict.proved()) return verdict;
  Search(schedules, numbers).run(most_states, states, verdict);
  return verdict;
}

}  // namespace swapmeet
