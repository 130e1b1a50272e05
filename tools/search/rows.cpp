/// Brute force over the operations of ranks on rows of shared memory that are used in turn (engine/rows_in_turn.hpp).
#include <string>
#include <unordered_set>
#include <vector>

#include "search/search.hpp"

namespace swapmeet {

namespace {

/// The state of one rank in its exchange. It may read before its own row is written. It leaves the exchange when its
/// flag is raised and it has read or skipped the row of each other rank; rows are skipped if blocks are empty.
struct Doing {
  std::uint32_t exchange = 1;
  enum Row : std::uint16_t { untouched, being_written, raised } row = untouched;
  std::uint8_t reading = 0, done = 0;  ///< bit sets over the other ranks
};

using RanksDoing = std::vector<Doing>;

class ExchangeSearch {
 public:
  ExchangeSearch(std::size_t ranks, const RowsInTurn& turns, std::uint32_t exchanges)
      : ranks_(ranks), turns_(turns), exchanges_(exchanges) {}

  void run(std::int64_t most_states, std::int64_t& states, Verdict& verdict) {
    visit(RanksDoing(ranks_));
    for (states = 0; !open_.empty(); ++states) {
      if (states == most_states) return verdict.add("more than " + std::to_string(most_states) + " states");
      const RanksDoing state = open_.back();
      open_.pop_back();
      moved_ = false;
      for (std::size_t r = 0; r < ranks_; ++r)
        if (const std::string problem = expand(state, r); !problem.empty()) return verdict.add(problem);
      if (!moved_ && !over(state)) return verdict.add("ranks wait for one another for ever");
    }
  }

 private:
  void visit(const RanksDoing& state) {
    const std::string key(reinterpret_cast<const char*>(state.data()), state.size() * sizeof(Doing));
    if (seen_.insert(key).second) open_.push_back(state);
  }

  bool ended(const Doing& doing) const { return doing.exchange > exchanges_; }
  bool over(const RanksDoing& state) const {
    for (const Doing& doing : state)
      if (!ended(doing)) return false;
    return true;
  }

  static std::uint32_t flag(const Doing& of) { return of.exchange - (of.row != Doing::raised); }

  /// Whether the row of `writer` in an exchange has been written to since, or is being written to.
  bool overwritten(const Doing& writer, std::uint32_t exchange) const {
    for (std::uint32_t later = exchange + 1; later <= writer.exchange; ++later)
      if (turns_.row(later) == turns_.row(exchange) && (later < writer.exchange || writer.row != Doing::untouched))
        return true;
    return false;
  }

  bool may_write(const RanksDoing& state, std::size_t r) const {
    for (std::size_t other = 0; other < ranks_; ++other)
      if (other != r && !turns_.allows(state[r].exchange, flag(state[other]))) return false;
    return true;
  }

  /// Adds all next states of rank r. Returns the error that was found, or "".
  std::string expand(const RanksDoing& state, std::size_t r) {
    const Doing& mine = state[r];
    if (ended(mine)) return "";
    const auto become = [&](auto change, bool must = true) {
      RanksDoing next = state;
      change(next[r]);
      visit(next);
      moved_ |= must;
    };
    if (mine.row == Doing::being_written) become([](Doing& doing) { doing.row = Doing::raised; });
    if (mine.row == Doing::untouched && may_write(state, r))
      become([](Doing& doing) { doing.row = Doing::being_written; });
    for (std::size_t other = 0; other < ranks_; ++other) {
      const auto bit = static_cast<std::uint8_t>(1u << other);
      if (other == r || (mine.done & bit)) continue;
      const Doing& writer = state[other];
      const std::string who = "rank " + std::to_string(r) + " in exchange " + std::to_string(mine.exchange);
      if (flag(writer) >= mine.exchange && overwritten(writer, mine.exchange))
        return who + ((mine.reading & bit) ? " reads a row that is overwritten" : " never sees a flag that was raised");
      const bool reads = mine.reading & bit;
      become([&](Doing& doing) { doing.done |= bit, doing.reading &= static_cast<std::uint8_t>(~bit); }, reads);
      if (!reads && flag(writer) >= mine.exchange) become([&](Doing& doing) { doing.reading |= bit; });
    }
    const auto others = static_cast<std::uint8_t>(((1u << ranks_) - 1) & ~(1u << r));
    if (mine.row == Doing::raised && mine.done == others) become([](Doing& doing) { doing = {doing.exchange + 1}; });
    return "";
  }

  std::size_t ranks_;
  const RowsInTurn& turns_;
  std::uint32_t exchanges_;
  bool moved_ = false;  ///< some rank can proceed without skipping a row
  std::unordered_set<std::string> seen_;
  std::vector<RanksDoing> open_;
};

}  // namespace

Verdict search_rows(Rank ranks, const RowsInTurn& turns, std::uint32_t exchanges, std::int64_t most_states,
                    std::int64_t& states) {
  Verdict verdict;
  ExchangeSearch(static_cast<std::size_t>(ranks), turns, exchanges).run(most_states, states, verdict);
  return verdict;
}

}  // namespace swapmeet
