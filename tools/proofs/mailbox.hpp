/// A fabric for tests of sparse exchanges between simulated ranks in one process. Messages are found late, in any order
/// of their sources, and every send is incomplete until its message is found. Ranks run at any pace, and go on to the
/// next call as soon as the last one is complete for them. Tags distinguish only two calls, because only consecutive
/// calls may overlap.
#pragma once

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "schedule/random.hpp"
#include "sparse/fabric.hpp"
#include "sparse/hop.hpp"

namespace swapmeet {

/// The value of each byte of a message.
inline char sparse_byte(Rank source, std::uint32_t call, std::size_t number, std::int64_t index) {
  return static_cast<char>(mixed(static_cast<std::uint64_t>(source) * 1000003 + call * 8191 + number * 127) +
                           static_cast<std::uint64_t>(index) * 31);
}

class SparseMail {
 public:
  SparseMail(Rank ranks, std::uint64_t seed) : boxes_(static_cast<std::size_t>(ranks)), random_(seed) {}

  Rank ranks() const { return static_cast<Rank>(boxes_.size()); }
  /// Draws a random number below `end`.
  std::size_t draw(std::size_t end) { return static_cast<std::size_t>(random_.below(end)); }
  /// From now on, every message is found at once.
  void hurry(bool hurries) { hurries_ = hurries; }
  /// Makes all ranks send failed hops in the first call. `late`: messages that are sent directly in that call are found
  /// after it only, and their sends are complete at once.
  void lose_hops(bool late) { loses_hops_ = true, late_ = late; }

 private:
  friend class SparseMailbox;
  struct Letter {
    Rank source;
    Channel channel;
    std::uint32_t tag;
    std::vector<char> bytes;
  };
  struct Box {
    std::vector<Letter> letters;
    std::size_t left[2] = {0, 0};  ///< number of sends of this rank that were not found yet, by channel
  };
  struct CallTotals {
    Rank entered = 0;
    std::unordered_map<Rank, std::int64_t> counts;
  };

  bool late() { return !hurries_ && draw(3) == 0; }

  std::vector<Box> boxes_;
  std::unordered_map<std::uint32_t, CallTotals> totals_;  ///< by call
  Random random_;
  bool hurries_ = false, loses_hops_ = false, late_ = false;
};

/// One rank in one call.
class SparseMailbox {
 public:
  SparseMailbox(SparseMail& mail, Rank me, std::uint32_t call, std::span<const SparseSend> sends)
      : mail_(&mail), me_(me), call_(call), sends_(sends) {}

  int send_own(std::size_t number, bool) {
    std::vector<char> bytes(static_cast<std::size_t>(sends_[number].bytes));
    copy_own(number, bytes.data());
    return send(sends_[number].destination, Channel::direct, std::move(bytes));
  }
  int send_hop(Rank to, const char* memory, std::int64_t bytes) {
    if (mail_->loses_hops_ && call_ == 0) return send(to, Channel::hop, {failed_hop, failed_hop + sizeof failed_hop});
    return send(to, Channel::hop, {memory, memory + bytes});
  }
  int sends_left(Channel channel, std::size_t& left) {
    left = mail_->late_ && channel == Channel::direct ? 0 : mine().left[static_cast<std::size_t>(channel)];
    return 0;
  }

  int look(Channel channel, Rank from, FoundMessage& found) {
    std::vector<Rank> passed;
    found = {};
    for (found_ = 0; found_ < mine().letters.size(); ++found_) {
      const SparseMail::Letter& letter = mine().letters[found_];
      if (letter.channel != channel || letter.tag != tag() || (from != any_source && letter.source != from)) continue;
      if (std::ranges::count(passed, letter.source) > 0) continue;
      if (mail_->late_ && call_ == 0 && channel == Channel::direct) continue;
      passed.push_back(letter.source);  // later messages of this source must not overtake it
      if (mail_->late()) continue;
      found = {true, letter.source, static_cast<std::int64_t>(letter.bytes.size())};
      return 0;
    }
    return 0;
  }
  bool found_all(int looks) { return looks >= 300; }
  int receive(char* room, std::int64_t bytes) {
    auto& letters = mine().letters;
    const SparseMail::Letter& letter = letters[found_];
    if (room) std::memcpy(room, letter.bytes.data(), static_cast<std::size_t>(bytes));
    --mail_->boxes_[static_cast<std::size_t>(letter.source)].left[static_cast<std::size_t>(letter.channel)];
    letters.erase(letters.begin() + static_cast<std::ptrdiff_t>(found_));
    return 0;
  }
  int receives_left(std::size_t& left) {
    left = 0;
    return 0;
  }

  int begin_barrier() { return ++totals().entered, 0; }
  int barrier_over(bool& over) { return over = all_here(), 0; }
  int census(std::int64_t& expected, bool& over) {
    if (!counted_) {
      for (const SparseSend& send : sends_) ++totals().counts[send.destination];
      begin_barrier();
      counted_ = true;
    }
    over = all_here();
    expected = over ? totals().counts[me_] : 0;
    return 0;
  }

  int copy_own(std::size_t number, char* room) {
    for (std::int64_t i = 0; i < sends_[number].bytes; ++i) room[i] = sparse_byte(me_, call_, number, i);
    return 0;
  }

 private:
  SparseMail::Box& mine() { return mail_->boxes_[static_cast<std::size_t>(me_)]; }
  SparseMail::CallTotals& totals() { return mail_->totals_[call_]; }
  bool all_here() { return totals().entered == mail_->ranks() && !mail_->late(); }
  std::uint32_t tag() const { return call_ % 2; }

  int send(Rank to, Channel channel, std::vector<char> bytes) {
    mail_->boxes_[static_cast<std::size_t>(to)].letters.push_back({me_, channel, tag(), std::move(bytes)});
    ++mine().left[static_cast<std::size_t>(channel)];
    return 0;
  }

  SparseMail* mail_;
  Rank me_;
  std::uint32_t call_;
  std::span<const SparseSend> sends_;
  std::size_t found_ = 0;
  bool counted_ = false;
};

}  // namespace swapmeet
