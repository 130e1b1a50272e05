/// Symbolic execution of relays: every size is a symbol, so zero is one of its values and nothing depends on it.
#include <algorithm>

#include "algorithms/generate.hpp"
#include "schedule/relay.hpp"
#include "verify/checks.hpp"

namespace swapmeet {

namespace {

/// A message on its way: its blocks, and when it was sent.
struct Letter {
  std::vector<BlockName> blocks;
  bool last = false;
  std::uint32_t step = 0, batch = 0;
  bool taken = false;
};

/// What one rank knows of the blocks that it has.
struct Holder {
  std::vector<BlockName> blocks;  ///< by their number in the relay
  std::vector<int> here;          ///< 1 while the rank has it
  std::vector<int> received;      ///< of each source: how often its block has come to stay
};

class Post {
 public:
  Post(std::span<const Relay> relays, Verdict& verdict) : relays_(relays), verdict_(verdict), holders_(relays.size()) {
    for (std::size_t r = 0; r < relays.size(); ++r) {
      Holder& holder = holders_[r];
      holder.blocks.resize(relays.size() + static_cast<std::size_t>(relays[r].passed_on));
      holder.here.assign(holder.blocks.size(), 0);
      holder.received.assign(relays.size(), 0);
      holder.received[r] = 1;  // its own block is copied
      for (std::size_t d = 0; d < relays.size(); ++d) {
        holder.blocks[d] = {static_cast<Rank>(r), static_cast<Rank>(d)};
        holder.here[d] = d != r;
      }
    }
  }

  /// Rounds of the same step and batch of all ranks, one such group after the other: a message that is not received in
  /// the group in which it is sent is a finding. So each group ends before the next begins, whatever goes ahead of a
  /// message, and within a group every message is started before any is waited for: no rank waits for ever.
  void run(const std::function<bool()>& given_up) {
    std::vector<std::size_t> next(relays_.size(), 0);
    while (verdict_.proved() && !given_up()) {
      std::pair<std::uint32_t, std::uint32_t> now{UINT32_MAX, UINT32_MAX};
      for (std::size_t r = 0; r < relays_.size(); ++r)
        if (next[r] < relays_[r].rounds.size()) now = std::min(now, label(relays_[r].rounds[next[r]]));
      if (now.first == UINT32_MAX) break;
      letters_.assign(relays_.size(), {});
      std::vector<std::size_t> taking_part;
      for (std::size_t r = 0; r < relays_.size(); ++r)
        if (next[r] < relays_[r].rounds.size() && label(relays_[r].rounds[next[r]]) == now) taking_part.push_back(r);
      for (const std::size_t r : taking_part) send(r, relays_[r].rounds[next[r]]);
      for (const std::size_t r : taking_part) receive(r, relays_[r].rounds[next[r]++]);
      for (const auto& box : letters_)
        for (const auto& [sender, letter] : box)
          if (!letter.taken) add(sender, "sends a message that is not received in the same batch");
    }
    if (!verdict_.proved()) return;
    for (std::size_t r = 0; r < relays_.size(); ++r) check_end(r);
  }

 private:
  static std::pair<std::uint32_t, std::uint32_t> label(const Relay::Round& round) { return {round.step, round.batch}; }

  void add(std::size_t rank, const std::string& problem) {
    verdict_.add("rank " + std::to_string(rank) + ", blocks of unequal size: " + problem);
  }

  void send(std::size_t r, const Relay::Round& round) {
    Holder& holder = holders_[r];
    for (const Relay::Bundle& bundle : relays_[r].sends_of(round)) {
      Letter letter{{}, bundle.last, round.step, round.batch};
      for (const std::int32_t block : relays_[r].blocks_of(bundle, relays_[r].departing)) {
        const auto i = static_cast<std::size_t>(block);
        if (block < 0 || i >= holder.blocks.size() || holder.here[i] != 1)
          return add(r, "a block is sent that is not there");
        holder.here[i] = 0;
        letter.blocks.push_back(holder.blocks[i]);
      }
      letters_[static_cast<std::size_t>(bundle.peer)].emplace_back(r, std::move(letter));
    }
  }

  void receive(std::size_t r, const Relay::Round& round) {
    for (const Relay::Bundle& bundle : relays_[r].receives_of(round)) {
      // Messages with and without sizes have tags of their own, so order counts among each kind only.
      auto& box = letters_[r];
      const auto found = std::ranges::find_if(box, [&](const auto& entry) {
        return entry.first == static_cast<std::size_t>(bundle.peer) && entry.second.last == bundle.last &&
               !entry.second.taken;
      });
      if (found == box.end()) return add(r, "a message is not sent in the same batch");
      found->second.taken = true;
      if (found->second.blocks.size() != bundle.count)
        return add(r, "a message has another number of blocks than expected");
      for (std::size_t i = 0; i < bundle.count; ++i)
        arrive(r, found->second.blocks[i], relays_[r].arriving[bundle.first + i], bundle.last);
    }
  }

  void arrive(std::size_t r, BlockName name, std::int32_t number, bool last) {
    Holder& holder = holders_[r];
    if (last && number >= 0) return add(r, "a message that says to be the last passes a block on");
    if (number < 0) {
      const auto source = static_cast<std::size_t>(-1 - number);
      if (name.source != static_cast<Rank>(source) || name.destination != static_cast<Rank>(r))
        return misdelivered(static_cast<Rank>(r), static_cast<Rank>(source), name, verdict_);
      ++holder.received[source];
      return;
    }
    const auto i = static_cast<std::size_t>(number);
    if (i < relays_.size() || i >= holder.blocks.size() || holder.here[i] != 0)
      return add(r, "two blocks have one number");
    holder.blocks[i] = name;
    holder.here[i] = 1;
  }

  void check_end(std::size_t r) {
    const Holder& holder = holders_[r];
    for (std::size_t s = 0; s < holder.received.size(); ++s)
      if (const int times = holder.received[s]; times != 1)
        add(r, "the block of rank " + std::to_string(s) + " came " + std::to_string(times) + " times");
    if (std::ranges::count(holder.here, 1) != 0) add(r, "a block is kept in working memory for ever");
  }

  std::span<const Relay> relays_;
  Verdict& verdict_;
  std::vector<Holder> holders_;
  std::vector<std::vector<std::pair<std::size_t, Letter>>> letters_;  // by receiver: (sender, letter)
};

}  // namespace

Verdict verify_relays(std::span<const Schedule> schedules, const Progress& progress) {
  Verdict verdict;
  std::vector<Relay> relays;
  const auto given_up = [&] {
    if (!progress || progress(1)) return false;  // the executions of the schedules themselves took most of the time
    return verdict.add("interrupted: nothing is proved"), true;
  };
  for (const Schedule& schedule : schedules) {
    if (relays.size() % 64 == 0 && given_up()) return verdict;
    relays.push_back(relay_of(schedule));
    for (const Relay::Bundle& bundle : relays.back().sends) verdict.blocks += bundle.count;
    verdict.messages += static_cast<std::int64_t>(relays.back().sends.size());
  }
  Post(relays, verdict).run(given_up);
  return verdict;
}

}  // namespace swapmeet
