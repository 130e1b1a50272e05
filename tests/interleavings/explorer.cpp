#include "explorer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

constexpr std::size_t most_steps = 4000;  ///< of an execution: none is nearly as long

Explorer* active = nullptr;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value, std::uint64_t by) {
  hash = (hash ^ value) * by;
  return hash ^ (hash >> 29);
}

template <class Item>
bool ends_with(const std::vector<Item>& all, const std::vector<Item>& end) {
  return end.size() <= all.size() &&
         std::equal(end.begin(), end.end(), all.end() - static_cast<std::ptrdiff_t>(end.size()));
}

}  // namespace

Explorer* Explorer::here() { return active; }

Explorer::Explorer(char* base, std::size_t bytes, std::size_t ranks, Make make, Weakened weakened)
    : base_(base), bytes_(bytes), make_(std::move(make)), weakened_(std::move(weakened)), memory_(base, bytes),
      ranks_(ranks) {}

std::string Explorer::explore(std::size_t most_states) {
  do {
    execute(most_states);
    if (!problem_.empty()) return report();
    while (!path_.empty() && path_.back().way + 1 >= path_.back().ways.size()) path_.pop_back();
    if (!path_.empty()) ++path_.back().way;
  } while (!path_.empty());
  return "";
}

void Explorer::begin_execution() {
  program_.reset();
  std::memset(base_, 0, bytes_);
  program_ = make_();
  memory_.reset(ranks_.size());
  steps_.clear();
  cut_ = false;
  ++executions_;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    Rank& one = ranks_[rank];
    one.pending = {Pending::begin, 0, 1};
    one.history[0] = one.history[1] = 1;
    one.look.clear();
    one.last_look.clear();
    one.stored = false;
    one.least = 0;
    one.fiber.restart([this, rank] { program_->run(rank); });
  }
  for (std::size_t rank = 0; rank < ranks_.size() && problem_.empty(); ++rank) advance(rank, 0);  // to its first access
}

/// One execution: what is on the path, and from there on whatever is new, the first way at each branch.
void Explorer::execute(std::size_t most_states) {
  begin_execution();
  if (!problem_.empty()) return;
  for (std::size_t depth = 0;; ++depth) {
    if (depth == path_.size()) {
      if (!is_new()) return;
      if (seen_.size() > most_states) return void(problem_ = "more than " + std::to_string(most_states) + " states");
      Branch branch{{}, 0};
      find_ways(branch);
      if (branch.ways.empty()) {
        if (std::ranges::any_of(ranks_, &Rank::sleeps) && std::ranges::none_of(ranks_, &Rank::expects))
          problem_ = "the ranks wait for one another for ever";
        return;  // what a rank was to read later has not been stored
      }
      path_.push_back(std::move(branch));
    }
    const auto [rank, choice] = path_[depth].ways[path_[depth].way];
    advance(rank, choice);
    if (steps_.size() > most_steps && problem_.empty()) problem_ = "an execution does not end";
    if (!problem_.empty() || cut_) {
      path_.resize(depth + 1);
      return;
    }
  }
}

void Explorer::advance(std::size_t rank, std::size_t choice) {
  if (choice == later) return void(ranks_[rank].least = memory_.last(ranks_[rank].pending.word) + 1);
  running_ = rank;
  ranks_[rank].least = 0;
  ranks_[rank].chosen = choice;
  active = this;
  if (ranks_[rank].fiber.resume()) ranks_[rank].pending = {Pending::over, 0, 0};
  active = nullptr;
}

/// Whether something can be done: a rank that sleeps, or reads what is not there yet, waits for that.
bool Explorer::is_ready(std::size_t number) const {
  const Rank& rank = ranks_[number];
  switch (rank.pending.kind) {
    case Pending::load:
    case Pending::modify: return memory_.last(rank.pending.word) >= rank.least;
    case Pending::sleep:
      return std::ranges::any_of(rank.look, [&](const Read& read) { return memory_.last(read.word) > read.index; });
    case Pending::over: return false;
    default: return true;
  }
}

/// What one rank can do. (The others can do what they do later, too.)
void Explorer::find_ways(Branch& branch) const {
  std::size_t chosen = ranks_.size();
  for (std::size_t number = ranks_.size(); number-- > 0;)
    if (is_ready(number) && (chosen == ranks_.size() || ranks_[chosen].pending.kind != Pending::store)) chosen = number;
  if (chosen == ranks_.size()) return;
  const Rank& rank = ranks_[chosen];
  const auto add = [&](std::size_t choice) {
    branch.ways.emplace_back(static_cast<std::uint8_t>(chosen), static_cast<std::uint8_t>(choice));
  };
  const bool loads = rank.pending.kind == Pending::load, modifies = rank.pending.kind == Pending::modify;
  if (loads) {
    const std::size_t first = std::max(memory_.first_readable(chosen, rank.pending.word), rank.least);
    for (std::size_t index = memory_.last(rank.pending.word) + 1; index-- > first;) add(index);  // the latest first
  } else {
    for (std::size_t choice = 0; choice < rank.pending.choices; ++choice) add(choice);
  }
  if ((loads || modifies) && std::ranges::any_of(ranks_, [&](const Rank& other) {
        return &other != &rank && other.pending.kind != Pending::over;
      }))
    add(later);
}

bool Explorer::is_new() {
  Key key{1, 1};
  for (const Rank& rank : ranks_) {
    key.high = mixed(key.high, rank.history[0] + rank.least, 0x9E3779B97F4A7C15);
    key.low = mixed(key.low, rank.history[1] ^ rank.least << 7, 0xC2B2AE3D27D4EB4F);
  }
  return seen_.insert(key).second;
}

std::string Explorer::report() const {
  static constexpr const char* does[] = {"begins", "loads", "stores", "changes", "wakes up", "chooses", "ends"};
  std::string text = problem_ + "\n";
  for (const Step& step : steps_) {
    char line[200];
    if (step.kind == Pending::sleep) std::snprintf(line, sizeof line, "  rank %d wakes up", step.rank);
    else
      std::snprintf(line, sizeof line, "  rank %d %s %s: %llx%s", step.rank, does[step.kind],
                    step.kind == Pending::choice ? "a way" : program_->name(step.offset).c_str(),
                    static_cast<unsigned long long>(step.value), step.index < step.last ? " (not the last value)" : "");
    text += line;
    text += "\n";
  }
  return text;
}

// --- what ranks do -------------------------------------------------------------------------------------------------------

std::size_t Explorer::wait_for_turn(Pending pending) {
  Rank& mine = ranks_[running_];
  mine.pending = pending;
  active = nullptr;
  mine.fiber.leave();
  return mine.chosen;
}

void Explorer::fail(const std::string& what) {
  problem_ = "rank " + std::to_string(running_) + " " + what;
  Fiber& mine = ranks_[running_].fiber;
  while (true) mine.leave();  // nothing follows
}

void Explorer::check(std::string problem, const char* does, std::size_t offset) {
  if (!problem.empty()) fail(std::string(does) + " " + program_->name(offset) + ", " + problem);
}

void Explorer::note(Pending::Kind kind, std::size_t word, std::size_t offset, std::size_t index) {
  const bool is_word = kind == Pending::load || kind == Pending::store || kind == Pending::modify;
  steps_.push_back({static_cast<std::uint8_t>(running_), kind, offset, is_word ? memory_.value(word, index) : index,
                    index, is_word ? memory_.last(word) : index});
  Rank& mine = ranks_[running_];
  const std::uint64_t done = (offset << 20 | index << 4 | kind) + 1;
  mine.history[0] = mixed(mine.history[0], done, 0xBF58476D1CE4E5B9);
  mine.history[1] = mixed(mine.history[1], done, 0x94D049BB133111EB);
}

int Explorer::order_of(std::size_t offset, int order, Weakened::Of of) const {
  const bool weak =
      !weakened_.words.empty() && weakened_.of == of && program_->name(offset).starts_with(weakened_.words);
  return weak ? __ATOMIC_RELAXED : order;
}

std::uint64_t Explorer::load(const void* address, std::size_t bytes, int order) {
  const std::size_t offset = memory_.offset(address), word = memory_.word(offset, bytes);
  const std::size_t index = wait_for_turn({Pending::load, word, 0});
  check(memory_.load(running_, word, index, order_of(offset, order, Weakened::Of::loads)), "loads", offset);
  note(Pending::load, word, offset, index);
  ranks_[running_].look.push_back({word, index});
  active = this;
  return memory_.value(word, index);
}

void Explorer::store(void* address, std::size_t bytes, std::uint64_t value, int order) {
  const std::size_t offset = memory_.offset(address), word = memory_.word(offset, bytes);
  wait_for_turn({Pending::store, word, 1});
  check(memory_.store(running_, word, value, order_of(offset, order, Weakened::Of::stores)), "stores", offset);
  note(Pending::store, word, offset, memory_.last(word));
  ranks_[running_].stored = true;
  active = this;
}

std::uint64_t Explorer::modify(void* address, std::size_t bytes, int order,
                               const std::function<std::uint64_t(std::uint64_t)>& change) {
  const std::size_t offset = memory_.offset(address), word = memory_.word(offset, bytes);
  wait_for_turn({Pending::modify, word, 1});
  const std::uint64_t before = memory_.value(word, memory_.last(word));
  check(memory_.modify(running_, word, change(before), order_of(offset, order, Weakened::Of::stores)), "changes",
        offset);
  note(Pending::modify, word, offset, memory_.last(word));
  ranks_[running_].stored = true;
  active = this;
  return before;
}

void Explorer::fence(int order) {
  active = nullptr;
  if (const std::string problem = memory_.fence(running_, order); !problem.empty()) fail("'s fence " + problem);
  active = this;
}

void Explorer::access(const void* address, std::size_t bytes, bool writes) {
  if (bytes == 0) return;
  active = nullptr;
  const std::size_t offset = memory_.offset(address);
  check(memory_.access(running_, offset, bytes, writes), writes ? "writes" : "reads", offset);
  active = this;
}

void Explorer::turn(bool moved) {
  Rank& mine = ranks_[running_];
  active = nullptr;
  if (moved || mine.stored) {
    mine.last_look.clear();
  } else {
    if (!mine.look.empty() && ends_with(mine.last_look, mine.look)) cut_ = true;
    wait_for_turn({Pending::sleep, 0, 1});
    note(Pending::sleep, 0, 0, 0);
    mine.last_look = mine.look;
  }
  mine.look.clear();
  mine.stored = false;
  active = this;
}

void Explorer::forget(std::span<const std::uint64_t> local) {
  Rank& mine = ranks_[running_];
  for (std::uint64_t* const history : {&mine.history[0], &mine.history[1]}) {
    const std::uint64_t by = history == &mine.history[0] ? 0xBF58476D1CE4E5B9 : 0x94D049BB133111EB;
    *history = memory_.state(running_, by);
    for (const std::uint64_t number : local) *history = mixed(*history, number, by);
  }
  mine.look.clear();
  mine.last_look.clear();
  mine.stored = false;
}

std::size_t Explorer::choose(std::size_t number) {
  const std::size_t chosen = wait_for_turn({Pending::choice, 0, number});
  note(Pending::choice, 0, 0, chosen);
  active = this;
  return chosen;
}

void Explorer::must(bool right, const std::string& what) {
  if (right) return;
  active = nullptr;
  fail(what);
}
