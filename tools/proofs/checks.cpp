/// Checks of bounds, and of independence within a step.
#include "proofs/checks.hpp"

#include <algorithm>

#include "schedule/names.hpp"

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

/// The blocks that the operations of one step have read and written so far.
class Marks {
 public:
  explicit Marks(const Schedule& schedule) {
    for (const Buffer buffer : {Buffer::send, Buffer::receive, Buffer::scratch})
      of(buffer).assign(static_cast<std::size_t>(schedule.blocks_in(buffer)), {0, 0});
  }

  /// Begins a step, without the marks of earlier ones.
  void next_step() { ++step_; }

  /// Whether reading (`write`: writing) `run` conflicts with an access that was marked before. Marks this access.
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
    std::uint32_t read, written;  // the last step with such an access
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

void misdelivered(Rank rank, Rank source, std::optional<BlockName> found, Verdict& verdict) {
  const std::string content =
      found ? "block (" + std::to_string(found->source) + ", " + std::to_string(found->destination) + ")" : "nothing";
  verdict.add("rank " + std::to_string(rank) + " ends with " + content + " in receive[" + std::to_string(source) + "]");
}

}  // namespace swapmeet
