#include "proofs/symmetry.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "topology/arrangement.hpp"
#include "proofs/checks.hpp"

namespace swapmeet {

namespace {

/// A block relative to the rank that has it. Both members are shifts on the grid, numbered as places are.
struct View {
  std::int32_t source = nothing;
  std::int32_t offset = 0;  // from the source to the destination: the same for every rank

  static constexpr std::int32_t nothing = -1;
  bool operator==(const View&) const = default;
};

struct Trace {
  std::vector<std::uint32_t> messages;  // number in each step
  std::vector<std::int32_t> ways;       // of each message: shift from the sender to the receiver
  std::vector<bool> lasts;              // of each message: Message::last
  // of each message: end of its blocks in `blocks`; a 0 precedes the first one
  std::vector<std::size_t> ends{0};
  std::vector<View> blocks;
  bool operator==(const Trace&) const = default;
};

/// The execution of one rank among peers with the same trace.
class Walk {
 public:
  Walk(const Schedule& schedule, const Arrangement& grid) : schedule_(schedule), grid_(grid) {
    contents_[0].reserve(static_cast<std::size_t>(schedule.ranks));
    for (Rank d = 0; d < schedule.ranks; ++d) contents_[0].push_back({0, grid.shifted(d, schedule.rank, -1)});
    contents_[1].resize(static_cast<std::size_t>(schedule.ranks));
    contents_[2].resize(static_cast<std::size_t>(schedule.scratch_blocks));
  }

  /// Executes the steps and returns the trace, up to the first finding.
  Trace run(Verdict& verdict) {
    for (std::size_t s = 0; s < schedule_.steps.size() && verdict.proved(); ++s) {
      const Step& step = schedule_.steps[s];
      for (const Copy& copy : schedule_.copies_of(step))
        for (std::int32_t i = 0; i < copy.from.count; ++i)
          at(copy.to.buffer, copy.to.block(i)) = at(copy.from.buffer, copy.from.block(i));
      trace_.messages.push_back(step.send_count);
      const std::size_t first = trace_.ways.size();
      for (const Message& message : schedule_.sends_of(step)) send(message);
      if (match(s, first, verdict))
        for (std::size_t i = 0; i < step.receive_count; ++i)
          receive(s, schedule_.receives_of(step)[i], first + i, verdict);
    }
    return std::move(trace_);
  }

  void check_end(Verdict& verdict) {
    for (Rank s = 0; s < schedule_.ranks; ++s) {
      const View found = at(Buffer::receive, s);
      const std::int32_t way_back = grid_.shifted(s, schedule_.rank, -1);
      if (found.source == way_back && grid_.shifted(way_back, found.offset, 1) == 0) continue;
      misdelivered(schedule_.rank, s, absolute(found), verdict);
    }
  }

 private:
  View& at(Buffer buffer, std::int32_t block) {
    return contents_[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(block)];
  }

  /// Returns the absolute name of a block: (source, destination).
  std::optional<BlockName> absolute(const View& view) const {
    if (view.source == View::nothing) return std::nullopt;
    const Rank source = grid_.shifted(schedule_.rank, view.source, 1);
    return BlockName{source, grid_.shifted(source, view.offset, 1)};
  }

  void send(const Message& message) {
    trace_.ways.push_back(grid_.shifted(message.peer, schedule_.rank, -1));
    trace_.lasts.push_back(message.last);
    for (const Run& run : schedule_.runs_of(message))
      for (std::int32_t i = 0; i < run.count; ++i) trace_.blocks.push_back(at(run.buffer, run.block(i)));
    trace_.ends.push_back(trace_.blocks.size());
  }

  /// Whether the i-th receive of step `s` matches the i-th send of a peer with the same trace. The sends of the step
  /// are in the trace from `first` on.
  bool match(std::size_t s, std::size_t first, Verdict& verdict) const {
    const auto receives = schedule_.receives_of(schedule_.steps[s]);
    if (receives.size() != trace_.ways.size() - first) {
      verdict.add(place(schedule_, s) + ": " + std::to_string(receives.size()) + " receives, but " +
                  std::to_string(trace_.ways.size() - first) + " sends");
      return false;
    }
    for (std::size_t i = 0; i < receives.size(); ++i) {
      const Rank sender = grid_.shifted(schedule_.rank, trace_.ways[first + i], -1);
      const auto add = [&](const std::string& problem) {
        verdict.add(place(schedule_, s) + ": receive number " + std::to_string(i) + " of the step " + problem);
      };
      if (receives[i].last != trace_.lasts[first + i]) add("is the last of its blocks for one end only");
      const auto sent = static_cast<std::int64_t>(trace_.ends[first + i + 1] - trace_.ends[first + i]);
      if (receives[i].peer != sender)
        add("is from rank " + std::to_string(receives[i].peer) + ", but by symmetry rank " + std::to_string(sender) +
            " sends it");
      else if (schedule_.block_count(receives[i]) != sent)
        add("takes " + std::to_string(schedule_.block_count(receives[i])) + " blocks, but by symmetry " +
            std::to_string(sent) + " are sent");
    }
    return verdict.proved();
  }

  /// Stores the blocks of message number `number`.
  void receive(std::size_t s, const Message& message, std::size_t number, Verdict& verdict) {
    const std::int32_t way = trace_.ways[number];
    std::size_t next = trace_.ends[number];
    for (const Run& run : schedule_.runs_of(message))
      for (std::int32_t i = 0; i < run.count; ++i) {
        View view = trace_.blocks[next++];
        if (view.source != View::nothing) view.source = grid_.shifted(view.source, way, -1);
        if (message.last && (view.source == View::nothing || grid_.shifted(view.source, view.offset, 1) != 0))
          verdict.add(place(schedule_, s) + ": the message from rank " + std::to_string(message.peer) +
                      " is not the last of all its blocks, but marked so");
        at(run.buffer, run.block(i)) = view;
      }
  }

  const Schedule& schedule_;
  const Arrangement& grid_;
  std::vector<View> contents_[3];  // of send, receive, scratch
  Trace trace_;
};

/// Returns the first step in which the traces differ, as a text such as "step 2".
std::string difference(const Trace& a, const Trace& b) {
  std::size_t message = 0;
  for (std::size_t s = 0; s < std::min(a.messages.size(), b.messages.size()); ++s) {
    const std::string step = "step " + std::to_string(s);
    if (a.messages[s] != b.messages[s]) return step;
    for (const std::size_t end = message + a.messages[s]; message < end; ++message) {
      const auto blocks = [&](const Trace& trace) {
        return std::span(trace.blocks).subspan(trace.ends[message], trace.ends[message + 1] - trace.ends[message]);
      };
      if (a.ways[message] != b.ways[message] || a.lasts[message] != b.lasts[message] ||
          !std::ranges::equal(blocks(a), blocks(b)))
        return step;
    }
  }
  return "the number of steps";
}

/// Returns the ranks to verify. Up to 16 ranks: all; more: the first, the next one in each dimension, the middle one
/// and the last.
std::vector<Rank> sample_ranks(const std::vector<std::int32_t>& sizes) {
  const Rank ranks = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies{});
  std::vector<Rank> sample(static_cast<std::size_t>(std::min(ranks, 16)));
  std::iota(sample.begin(), sample.end(), 0);
  if (ranks <= 16) return sample;
  sample = {0, ranks / 2, ranks - 1};
  Rank stride = 1;
  for (const std::int32_t size : sizes) {
    if (size > 1) sample.push_back(stride);
    stride *= size;
  }
  std::ranges::sort(sample);
  const auto twice = std::ranges::unique(sample);
  sample.erase(twice.begin(), twice.end());
  return sample;
}

}  // namespace

Verdict verify_symmetric(std::span<const Schedule> sample, const std::vector<std::int32_t>& sizes) {
  Verdict verdict;
  const Rank ranks = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies{});
  const Arrangement grid = arrange({Dimensions::Kind::given, sizes}, {ranks, {}});
  if (sample.empty()) verdict.add("there is no schedule");
  for (const Schedule& schedule : sample) {
    check_head(schedule, ranks, schedule.rank, sample[0], verdict);
    if (schedule.neighbours) verdict.add("a schedule is of an exchange with neighbours");
  }
  if (!verdict.proved()) return verdict;
  Trace expected;
  for (const Schedule& schedule : sample) {
    check_bounds(schedule, verdict);
    if (!verdict.proved()) return verdict;
    check_independence(schedule, verdict);
    Walk walk(schedule, grid);
    Trace trace = walk.run(verdict);
    if (!verdict.proved()) return verdict;
    walk.check_end(verdict);
    if (&schedule == &sample[0]) expected = std::move(trace);
    else if (trace != expected)
      verdict.add("rank " + std::to_string(schedule.rank) + " does not do what rank " + std::to_string(sample[0].rank) +
                  " does, seen from itself: they differ in " + difference(expected, trace));
  }
  verdict.messages = std::int64_t{ranks} * static_cast<std::int64_t>(expected.ways.size());
  verdict.blocks = std::int64_t{ranks} * static_cast<std::int64_t>(expected.blocks.size());
  return verdict;
}

Verdict verify_symmetric(const Spec& spec, const Shape& shape) {
  const std::optional<Arrangement> grid = alike_on(spec, shape);
  if (!grid || !std::ranges::is_sorted(grid->rank_at)) {
    Verdict verdict;
    verdict.add(to_text(spec) + " does not look alike from every rank");
    return verdict;
  }
  const std::vector<std::int32_t>& sizes = grid->sizes;
  std::vector<Schedule> sample;
  for (const Rank rank : sample_ranks(sizes)) sample.push_back(generate(spec, shape, rank));
  return verify_symmetric(sample, sizes);
}

}  // namespace swapmeet
