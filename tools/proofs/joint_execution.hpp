/// The execution of all ranks together, with every send as a rendezvous. Each rank is the engine that executes
/// schedules and flows (engine/engine.hpp); its fabric is a mailbox. A `Contents` tracks the data of the messages:
///   void enter(rank, step)               a rank begins a step
///   void deliver(a, send, b, receive)    message `send` of rank a completes as message `receive` of rank b
#pragma once

#include <deque>

#include "engine/engine.hpp"
#include "proofs/matching.hpp"
#include "proofs/verify.hpp"

namespace swapmeet {

inline std::span<const Step> rounds_of(const Schedule& schedule) { return schedule.steps; }
inline std::span<const Round> rounds_of(const Flow& flow) { return flow.rounds; }

template <class Program, class Contents>
class JointExecution {
 public:
  JointExecution(std::span<const Program> programs, const Numbering& numbers, Contents& contents)
      : programs_(programs), numbers_(numbers), contents_(contents), sends_(numbers.receive_of.size()),
        receives_(numbers.send_of.size()) {
    for (std::size_t r = 0; r < programs.size(); ++r) ranks_.emplace_back(*this, r);
  }

  /// Runs until no rank can proceed. Returns false if `progress` requested to stop.
  bool run(const Progress& progress) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) ready_.push_back(r);
    const double all = static_cast<double>(std::max<std::size_t>(1, sends_.size()));
    std::size_t done = 0;
    for (std::size_t turn = 0; !ready_.empty(); ++turn) {
      Process& rank = ranks_[ready_.back()];
      ready_.pop_back();
      if (!rank.over) rank.over = rank.engine.advance() != unfinished;
      for (; !deliverable_.empty(); ++done) {
        const std::uint32_t send = deliverable_.back();
        deliverable_.pop_back();
        deliver(send);
      }
      if (progress && turn % 1024 == 0 && !progress(static_cast<double>(done) / all)) return false;
    }
    return true;
  }

  bool finished(std::size_t r) const { return ranks_[r].over; }

  /// Returns a text such as "rank 3, step 1 never finishes; it waits for rank 2".
  std::string stuck(std::size_t r) const {
    const std::size_t index = ranks_[r].mailbox.step;
    const auto& step = rounds_of(programs_[r])[index];
    const std::string where = "rank " + std::to_string(r) + ", step " + std::to_string(index) + " never finishes";
    for (std::uint32_t i = 0; i < step.receive_count; ++i) {
      const std::uint32_t number = numbers_.receives[r] + step.first_receive + i;
      if (receives_[number].started && !sends_[numbers_.send_of[number]].started)
        return where + "; it waits for rank " + std::to_string(programs_[r].receives[step.first_receive + i].peer);
    }
    for (std::uint32_t i = 0; i < step.send_count; ++i) {
      const std::uint32_t number = numbers_.sends[r] + step.first_send + i;
      if (sends_[number].started && !receives_[numbers_.receive_of[number]].started)
        return where + "; rank " + std::to_string(programs_[r].sends[step.first_send + i].peer) +
               " does not receive from it";
    }
    return where;
  }

 private:
  /// The state of one end of a message.
  struct End {
    bool started = false;
    std::uint32_t slot = 0;
  };

  /// The fabric of one rank. A message ends when both its ends have started; messages end one at a time.
  struct Mailbox {
    struct Phase {
      ~Phase() {}
    };

    std::size_t step = 0;
    std::deque<std::uint32_t> over{};  ///< slots whose messages have ended

    void enter(std::size_t index, const Round&) { step = index; }
    Phase in_transfer_phase() const { return {}; }
    Phase in_wait_phase() const { return {}; }
    bool can_finish_all() const { return false; }
    int finish_all() const { return 0; }
    template <class Done>
    int poll(std::uint32_t, bool& moved, Done&& done) {
      for (; !over.empty(); moved = true) {
        const std::uint32_t slot = over.front();
        over.pop_front();
        done(slot);
      }
      return 0;
    }
    bool pause_if_allowed(bool) const { return false; }
    int finish_exchange() const { return 0; }
    void all_sends_started() const {}
    void abandon() {}
  };

  /// The payload of one rank: the steps of its program.
  struct Steps {
    static constexpr bool hears = false, has_parts = false;

    JointExecution& all;
    std::size_t rank;

    std::size_t rounds() const { return rounds_of(all.programs_[rank]).size(); }
    const Round& round(std::size_t index) const { return rounds_of(all.programs_[rank])[index]; }
    bool next_pass() const { return false; }
    int begin(Mailbox&) const { return 0; }
    int over() const { return 0; }
    void copy(std::size_t index) { all.contents_.enter(rank, index); }
    template <bool is_send>
    int start(std::uint32_t message, std::uint32_t slot, Mailbox&, Started& started) {
      all.start(is_send, (is_send ? all.numbers_.sends : all.numbers_.receives)[rank] + message, slot);
      started = Started::underway;
      return 0;
    }
    template <bool is_send>
    void finished(std::uint32_t, std::uint32_t) const {}
  };

  struct Process {
    Process(JointExecution& all, std::size_t rank) : steps{all, rank}, engine(mailbox, steps) {}
    Mailbox mailbox;
    Steps steps;
    Engine<Mailbox, Steps> engine;
    bool over = false;
  };

  void start(bool is_send, std::uint32_t number, std::uint32_t slot) {
    (is_send ? sends_ : receives_)[number] = {true, slot};
    const bool both =
        is_send ? receives_[numbers_.receive_of[number]].started : sends_[numbers_.send_of[number]].started;
    if (both) deliverable_.push_back(is_send ? number : numbers_.send_of[number]);
  }

  static std::size_t owner(const std::vector<std::uint32_t>& firsts, std::uint32_t number) {
    return static_cast<std::size_t>(std::ranges::upper_bound(firsts, number) - firsts.begin()) - 1;
  }

  /// Completes one message, so that both ends can proceed.
  void deliver(std::uint32_t send) {
    const std::uint32_t receive = numbers_.receive_of[send];
    const std::size_t a = owner(numbers_.sends, send), b = owner(numbers_.receives, receive);
    contents_.deliver(a, send - numbers_.sends[a], b, receive - numbers_.receives[b]);
    ranks_[a].mailbox.over.push_back(sends_[send].slot);
    ranks_[b].mailbox.over.push_back(receives_[receive].slot);
    ready_.push_back(a);
    ready_.push_back(b);
  }

  std::span<const Program> programs_;
  const Numbering& numbers_;
  Contents& contents_;
  std::vector<End> sends_, receives_;
  std::deque<Process> ranks_;  // a deque, which never moves them: an engine refers to members of its process
  std::vector<std::size_t> ready_;
  std::vector<std::uint32_t> deliverable_;
};

}  // namespace swapmeet
