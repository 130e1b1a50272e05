/// Symbolic execution of all ranks with rendezvous messages.
#include "verify/verify.hpp"

#include <algorithm>

#include "algorithms/suitable.hpp"
#include "algorithms/generate.hpp"
#include "verify/checks.hpp"
#include "verify/symmetry.hpp"

namespace swapmeet {

void Verdict::add(std::string finding) {
  if (findings.size() < most_findings) findings.push_back(std::move(finding));
}

namespace {

using Block = std::int64_t;  // source · P + destination
constexpr Block nothing = -1;

/// One rank in execution.
struct Process {
  const Schedule* schedule = nullptr;
  std::vector<Block> contents[3];  // of send, receive, scratch
  std::size_t step = 0;
  bool entered = false;  // the copies of `step` have been made
  std::uint32_t sends_started = 0, sends_done = 0, receives_started = 0, receives_done = 0;  // in this step

  Block& at(Buffer buffer, std::int32_t block) {
    return contents[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(block)];
  }
};

class Execution {
 public:
  Execution(std::span<const Schedule> schedules, const Numbering& numbers)
      : numbers_(numbers), processes_(schedules.size()), send_started_(numbers.receive_of.size()),
        receive_started_(numbers.send_of.size()) {
    const auto p = static_cast<Block>(schedules.size());
    for (std::size_t r = 0; r < processes_.size(); ++r) {
      Process& process = processes_[r];
      process.schedule = &schedules[r];
      for (Block d = 0; d < p; ++d) process.contents[0].push_back(static_cast<Block>(r) * p + d);
      process.contents[1].assign(static_cast<std::size_t>(p), nothing);
      process.contents[2].assign(static_cast<std::size_t>(schedules[r].scratch_blocks), nothing);
    }
  }

  /// Runs until nothing can move. False: `progress` gave up.
  bool run(const Progress& progress) {
    for (std::size_t r = 0; r < processes_.size(); ++r) ready_.push_back(r);
    std::size_t done = 0;
    for (std::size_t turn = 0; !ready_.empty(); ++turn) {
      const std::size_t r = ready_.back();
      ready_.pop_back();
      advance(r);
      for (; !deliverable_.empty(); ++done) {
        const std::uint32_t send = deliverable_.back();
        deliverable_.pop_back();
        deliver(send);
      }
      if (progress && turn % 1024 == 0 && !progress(double(done) / double(std::max<std::size_t>(1, total()))))
        return false;
    }
    return true;
  }

  void check_end(Verdict& verdict) {
    const auto p = static_cast<Block>(processes_.size());
    for (const std::string& claim : false_claims_) verdict.add(claim);
    for (std::size_t r = 0; r < processes_.size(); ++r) {
      Process& process = processes_[r];
      if (process.step != process.schedule->steps.size()) {
        verdict.add("deadlock: " + place(*process.schedule, process.step) + " never finishes" + waits_for(r));
        continue;
      }
      for (Block s = 0; s < p; ++s) {
        const Block found = process.contents[1][static_cast<std::size_t>(s)];
        if (found == s * p + static_cast<Block>(r)) continue;
        std::optional<BlockName> name;
        if (found != nothing) name = BlockName{static_cast<Rank>(found / p), static_cast<Rank>(found % p)};
        misdelivered(static_cast<Rank>(r), static_cast<Rank>(s), name, verdict);
      }
    }
  }

 private:
  std::size_t total() const { return numbers_.receive_of.size(); }

  std::string waits_for(std::size_t r) const {
    const Process& process = processes_[r];
    const Step& step = process.schedule->steps[process.step];
    for (std::uint32_t i = 0; i < process.receives_started; ++i) {
      const std::uint32_t number = numbers_.receives[r] + step.first_receive + i;
      if (!send_started_[numbers_.send_of[number]])
        return "; it waits for rank " + std::to_string(process.schedule->receives[step.first_receive + i].peer);
    }
    for (std::uint32_t i = 0; i < process.sends_started; ++i) {
      const std::uint32_t number = numbers_.sends[r] + step.first_send + i;
      if (!receive_started_[numbers_.receive_of[number]])
        return "; rank " + std::to_string(process.schedule->sends[step.first_send + i].peer) +
               " does not receive from it";
    }
    return "";
  }

  /// How many of `count` messages may have started when `sends` and `receives` have completed.
  static std::uint32_t allowed(const Step& step, std::uint32_t count, std::uint32_t done, std::uint32_t batch) {
    const std::uint64_t window = step.in_flight();
    const std::uint64_t most = step.completion == Completion::all ? (batch + 1) * window : done + window;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, most));
  }

  /// With completion `all`: the number of batches that are finished.
  static std::uint32_t finished_batches(const Process& process, const Step& step) {
    const std::uint32_t window = step.in_flight();
    const auto batches = [&](std::uint32_t done, std::uint32_t count) {
      return done == count ? UINT32_MAX : done / window;  // a side that is through holds nobody up
    };
    return std::min(batches(process.sends_done, step.send_count), batches(process.receives_done, step.receive_count));
  }

  /// Starts whatever rank r may start.
  void advance(std::size_t r) {
    Process& process = processes_[r];
    while (process.step < process.schedule->steps.size()) {
      const Step& step = process.schedule->steps[process.step];
      if (!process.entered) copy(process, step);
      process.entered = true;
      start(r, process, step);
      if (process.sends_done < step.send_count || process.receives_done < step.receive_count) return;
      ++process.step;
      process.entered = false;
      process.sends_started = process.sends_done = process.receives_started = process.receives_done = 0;
    }
  }

  void start(std::size_t r, Process& process, const Step& step) {
    const std::uint32_t batch = finished_batches(process, step);
    const std::uint32_t sends =
        batch == UINT32_MAX ? step.send_count : allowed(step, step.send_count, process.sends_done, batch);
    const std::uint32_t receives =
        batch == UINT32_MAX ? step.receive_count : allowed(step, step.receive_count, process.receives_done, batch);
    for (; process.sends_started < sends; ++process.sends_started) {
      const std::uint32_t send = numbers_.sends[r] + step.first_send + process.sends_started;
      send_started_[send] = true;
      if (receive_started_[numbers_.receive_of[send]]) deliverable_.push_back(send);
    }
    for (; process.receives_started < receives; ++process.receives_started) {
      const std::uint32_t receive = numbers_.receives[r] + step.first_receive + process.receives_started;
      receive_started_[receive] = true;
      if (send_started_[numbers_.send_of[receive]]) deliverable_.push_back(numbers_.send_of[receive]);
    }
  }

  void copy(Process& process, const Step& step) {
    for (const Copy& copy : process.schedule->copies_of(step))
      for (std::int32_t i = 0; i < copy.from.count; ++i)
        process.at(copy.to.buffer, copy.to.block(i)) = process.at(copy.from.buffer, copy.from.block(i));
  }

  std::size_t owner(const std::vector<std::uint32_t>& firsts, std::uint32_t number) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(firsts, number) - firsts.begin()) - 1;
  }

  /// Completes one message: its contents move, and both ends may go on.
  void deliver(std::uint32_t send) {
    const std::uint32_t receive = numbers_.receive_of[send];
    const std::size_t a = owner(numbers_.sends, send), b = owner(numbers_.receives, receive);
    Process &source = processes_[a], &target = processes_[b];
    const auto from = source.schedule->runs_of(source.schedule->sends[send - numbers_.sends[a]]);
    const Message& message = target.schedule->receives[receive - numbers_.receives[b]];
    const auto to = target.schedule->runs_of(message);
    auto run = to.begin();
    std::int32_t filled = 0;
    for (const Run& blocks : from)
      for (std::int32_t i = 0; i < blocks.count; ++i) {
        if (filled == run->count) ++run, filled = 0;
        const Block block = source.at(blocks.buffer, blocks.block(i));
        target.at(run->buffer, run->block(filled++)) = block;
        if (message.last && block % static_cast<Block>(processes_.size()) != static_cast<Block>(b)) claim(a, b);
      }
    ++source.sends_done;
    ++target.receives_done;
    ready_.push_back(a);
    ready_.push_back(b);
  }

  void claim(std::size_t a, std::size_t b) {
    if (false_claims_.size() < Verdict::most_findings)
      false_claims_.push_back("rank " + std::to_string(a) + " sends rank " + std::to_string(b) +
                              " a message that is not the last of all its blocks, but says so");
  }

  const Numbering& numbers_;
  std::vector<Process> processes_;
  std::vector<std::string> false_claims_;
  std::vector<bool> send_started_, receive_started_;
  std::vector<std::size_t> ready_;
  std::vector<std::uint32_t> deliverable_;
};

}  // namespace

Verdict verify(std::span<const Schedule> schedules, const Progress& progress) {
  Verdict verdict;
  for (std::size_t r = 0; r < schedules.size(); ++r)
    check_head(schedules[r], static_cast<Rank>(schedules.size()), static_cast<Rank>(r), schedules[0], verdict);
  if (!verdict.proved()) return verdict;
  for (const Schedule& schedule : schedules) check_bounds(schedule, verdict);
  if (!verdict.proved()) return verdict;
  for (const Schedule& schedule : schedules) {
    check_independence(schedule, verdict);
    verdict.messages += static_cast<std::int64_t>(schedule.sends.size());
    for (const Message& send : schedule.sends) verdict.blocks += schedule.block_count(send);
  }
  const Numbering numbers = match(schedules, verdict);
  if (!verdict.proved()) return verdict;
  Execution execution(schedules, numbers);
  if (execution.run(progress)) execution.check_end(verdict);
  else verdict.add("interrupted: nothing is proved");
  return verdict;
}

namespace {

/// Whether blocks of unequal size are exchanged by relays, or could be but for the packing. The steps of leaders, and
/// of nodes in an order of the topology, match batch by batch with complete=all only, and no others are executed so.
bool exchanges_as_relays(const Spec& spec) {
  const bool relays = spec.family == Family::bruck || spec.family == Family::leaders;
  const bool alike = spec.family == Family::bruck && spec.order != Order::topology;
  return relays && (alike || spec.completion == Completion::all);
}

}  // namespace

Verdict verify(const Spec& spec, const Shape& shape, const Progress& progress) {
  std::vector<Schedule> schedules;
  for (Rank rank = 0; rank < shape.ranks; ++rank) schedules.push_back(generate(spec, shape, rank));
  Verdict verdict = verify(schedules, progress);
  if (verdict.proved() && exchanges_as_relays(spec)) verdict.findings = verify_relays(schedules, progress).findings;
  return verdict;
}

std::int64_t verify_memory_bytes(const Shape& shape) {
  const std::int64_t pairs = std::int64_t{shape.ranks} * shape.ranks;
  const std::int64_t per_pair =
      2 * sizeof(Message) + 2 * sizeof(Run) + 3 * sizeof(std::uint32_t) + 2 * sizeof(Block) + 16;
  return pairs * per_pair;
}

bool proved(const Spec& spec, const Shape& shape) {
  if (spec.family == Family::native) return true;
  if (!unsuitable(spec, shape).empty()) return false;
  if (spec.family == Family::direct) return true;  // docs/proofs.md, "Direct exchange": every P
  if (shape.ranks <= 64) return verify(spec, shape).proved();
  return verify_symmetric(spec, shape).proved();  // in milliseconds, for thousands of ranks, too
}

}  // namespace swapmeet
