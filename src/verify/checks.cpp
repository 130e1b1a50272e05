/// Bounds, independence within a step, and matching.
#include "verify/checks.hpp"

#include <algorithm>

#include "schedule/text.hpp"

namespace swapmeet {

std::string place(const Schedule& schedule, std::size_t step) {
  return "rank " + std::to_string(schedule.rank) + ", step " + std::to_string(step);
}

namespace {

bool in_bounds(const Schedule& schedule, const Run& run) {
  const std::int64_t room = schedule.blocks_in(run.buffer);
  const std::int64_t last = run.first + std::int64_t{run.count - 1} * run.stride;
  return run.count >= 1 && run.first >= 0 && run.first < room && last >= 0 && last < room &&
         (run.stride != 0 || run.count == 1);
}

void check_messages(const Schedule& schedule, std::size_t step, std::span<const Message> messages, bool sends,
                    Verdict& verdict) {
  for (const Message& message : messages) {
    const auto add = [&](const std::string& problem) {
      verdict.add(place(schedule, step) + (sends ? ": send to " : ": receive from ") + problem);
    };
    if (message.peer < 0 || message.peer >= schedule.ranks)
      add("rank " + std::to_string(message.peer) + ", which does not exist");
    if (message.peer == schedule.rank) add("itself; use a copy");
    if (message.count == 0) add("rank " + std::to_string(message.peer) + " carries no block");
    for (const Run& run : schedule.runs_of(message)) {
      if (!in_bounds(schedule, run)) add(to_text(run) + ", which is out of bounds");
      if (!sends && run.buffer == Buffer::send) add(to_text(run) + " writes to the send buffer");
    }
  }
}

/// Marks of one step: which blocks are read, which are written, by that step.
class Marks {
 public:
  explicit Marks(const Schedule& schedule) {
    for (const Buffer buffer : {Buffer::send, Buffer::receive, Buffer::scratch})
      of(buffer).assign(static_cast<std::size_t>(schedule.blocks_in(buffer)), {0, 0});
  }

  /// Forgets the marks of earlier steps.
  void next_step() { ++step_; }

  /// Whether reading (writing) `run` collides with what was marked before; marks it.
  bool collides(const Run& run, bool write) {
    bool collision = false;
    for (std::int32_t i = 0; i < run.count; ++i) {
      Mark& mark = of(run.buffer)[static_cast<std::size_t>(run.block(i))];
      collision |= mark.written == step_ || (write && mark.read == step_);
      (write ? mark.written : mark.read) = step_;
    }
    return collision;
  }

 private:
  struct Mark {
    std::uint32_t read, written;  // the step that did so last
  };
  std::vector<Mark>& of(Buffer buffer) { return marks_[static_cast<std::size_t>(buffer)]; }
  std::vector<Mark> marks_[3];
  std::uint32_t step_ = 1;
};

}  // namespace

void check_head(const Schedule& schedule, Rank ranks, Rank rank, const Schedule& first, Verdict& verdict) {
  if (schedule.ranks != ranks || schedule.rank != rank || rank < 0 || rank >= ranks)
    verdict.add("schedule " + std::to_string(rank) + " is of rank " + std::to_string(schedule.rank) + " of " +
                std::to_string(schedule.ranks));
  if (schedule.segment_bytes != first.segment_bytes || schedule.segment_bytes < 0)
    verdict.add("rank " + std::to_string(rank) + " cuts its blocks otherwise than rank " + std::to_string(first.rank));
  if (schedule.scratch_blocks < 0) verdict.add("rank " + std::to_string(rank) + " has negative scratch space");
}

void check_bounds(const Schedule& schedule, Verdict& verdict) {
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (step.window < 0) verdict.add(place(schedule, s) + ": the window is negative");
    for (const Copy& copy : schedule.copies_of(step)) {
      const auto add = [&](const std::string& problem) {
        verdict.add(place(schedule, s) + ": copy " + to_text(copy.from) + " to " + to_text(copy.to) + problem);
      };
      if (!in_bounds(schedule, copy.from) || !in_bounds(schedule, copy.to)) add(" is out of bounds");
      if (copy.from.count != copy.to.count) add(" has sides of different length");
      if (copy.to.buffer == Buffer::send) add(" writes to the send buffer");
    }
    check_messages(schedule, s, schedule.sends_of(step), true, verdict);
    check_messages(schedule, s, schedule.receives_of(step), false, verdict);
  }
}

void check_independence(const Schedule& schedule, Verdict& verdict) {
  Marks marks(schedule);
  for (std::size_t s = 0; s < schedule.steps.size(); ++s, marks.next_step()) {
    const Step& step = schedule.steps[s];
    const auto use = [&](const Run& run, bool write) {
      if (marks.collides(run, write))
        verdict.add(place(schedule, s) + ": " + to_text(run) + " is touched by another operation of the step");
    };
    for (const Copy& copy : schedule.copies_of(step)) use(copy.from, false), use(copy.to, true);
    for (const Message& message : schedule.sends_of(step))
      for (const Run& run : schedule.runs_of(message)) use(run, false);
    for (const Message& message : schedule.receives_of(step))
      for (const Run& run : schedule.runs_of(message)) use(run, true);
  }
}

Numbering match(std::span<const Schedule> schedules, Verdict& verdict) {
  const std::size_t p = schedules.size();
  Numbering numbers{{0}, {0}, {}, {}};
  for (const Schedule& schedule : schedules) {
    numbers.sends.push_back(numbers.sends.back() + static_cast<std::uint32_t>(schedule.sends.size()));
    numbers.receives.push_back(numbers.receives.back() + static_cast<std::uint32_t>(schedule.receives.size()));
  }
  numbers.receive_of.assign(numbers.sends.back(), UINT32_MAX);
  numbers.send_of.assign(numbers.receives.back(), UINT32_MAX);

  // incoming[b]: the sends to b, by source, in program order. Then the receives of b take them one by one.
  std::vector<std::vector<std::uint32_t>> incoming(p);
  for (std::size_t a = 0; a < p; ++a)
    for (std::size_t i = 0; i < schedules[a].sends.size(); ++i)
      incoming[static_cast<std::size_t>(schedules[a].sends[i].peer)].push_back(numbers.sends[a] +
                                                                               static_cast<std::uint32_t>(i));
  const auto source_of = [&](std::uint32_t send) {
    return static_cast<std::size_t>(std::ranges::upper_bound(numbers.sends, send) - numbers.sends.begin()) - 1;
  };
  for (std::size_t b = 0; b < p; ++b) {
    std::vector<std::size_t> next(p + 1, 0), end(p, 0);
    for (const std::uint32_t send : incoming[b]) ++next[source_of(send) + 1];
    for (std::size_t a = 0; a < p; ++a) next[a + 1] += next[a], end[a] = next[a + 1];
    for (std::size_t i = 0; i < schedules[b].receives.size(); ++i) {
      const Message& receive = schedules[b].receives[i];
      const auto a = static_cast<std::size_t>(receive.peer);
      const auto add = [&](const std::string& problem) {
        verdict.add("rank " + std::to_string(b) + " receives from rank " + std::to_string(a) + problem);
      };
      if (next[a] == end[a]) {
        add(" more messages than are sent");
        continue;
      }
      const std::uint32_t send = incoming[b][next[a]++];
      const auto number = numbers.receives[b] + static_cast<std::uint32_t>(i);
      numbers.receive_of[send] = number;
      numbers.send_of[number] = send;
      const Message& message = schedules[a].sends[send - numbers.sends[a]];
      const std::int64_t sent = schedules[a].block_count(message);
      if (message.last != receive.last) add(" a message that is the last of its blocks for one end only");
      if (sent != schedules[b].block_count(receive))
        add(" a message of " + std::to_string(sent) + " blocks into " +
            std::to_string(schedules[b].block_count(receive)));
    }
    for (std::size_t a = 0; a < p; ++a)
      if (next[a] != end[a])
        verdict.add("rank " + std::to_string(b) + " receives from rank " + std::to_string(a) +
                    " fewer messages than are sent");
  }
  return numbers;
}

void misdelivered(Rank rank, Rank source, std::optional<BlockName> found, Verdict& verdict) {
  const std::string content =
      found ? "block (" + std::to_string(found->source) + ", " + std::to_string(found->destination) + ")" : "nothing";
  verdict.add("rank " + std::to_string(rank) + " ends with " + content + " in receive[" + std::to_string(source) + "]");
}

}  // namespace swapmeet
