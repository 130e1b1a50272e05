#include "model/estimate.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

namespace swapmeet {

namespace {

constexpr double us_of_ns = 1e-3;
constexpr std::int64_t most_remembered = std::int64_t{1} << 24;  ///< links of paths

/// Paths between nodes, each looked up once if there is room.
class Paths {
 public:
  Paths(const Routing& routing, std::int64_t nodes) : routing_(routing), nodes_(nodes) {
    if (nodes * nodes <= most_remembered) place_.assign(static_cast<std::size_t>(nodes * nodes), 0);
  }

  std::span<const std::int32_t> operator()(Vertex from, Vertex to) {
    const bool remembers = !place_.empty() && links_.size() < most_remembered;
    const auto at = static_cast<std::size_t>(from * nodes_ + to);
    if (!place_.empty() && place_[at] != 0) return path_at(static_cast<std::size_t>(place_[at]));
    if (!remembers) links_now_.clear();
    std::vector<std::int32_t>& links = remembers ? links_ : links_now_;
    if (links.empty()) links.push_back(0);  // place 0 is that of no path
    const std::size_t first = links.size();
    links.push_back(0);
    routing_.path(from, to, links);
    links[first] = static_cast<std::int32_t>(links.size() - first - 1);
    if (remembers) return place_[at] = static_cast<std::int32_t>(first), path_at(first);
    return std::span(links_now_).subspan(first + 1);
  }

 private:
  std::span<const std::int32_t> path_at(std::size_t first) const {
    return std::span(links_).subspan(first + 1, static_cast<std::size_t>(links_[first]));
  }

  const Routing& routing_;
  std::int64_t nodes_;
  /// in links_, of each pair: the length of its path, then the path; 0: not looked up
  std::vector<std::int32_t> place_;
  std::vector<std::int32_t> links_, links_now_;
};

/// Blocks and messages, times ns for a byte of one, on each of some links; and the most of either.
class Links {
 public:
  explicit Links(std::size_t links) : blocks_(links), messages_(links) {}

  void add(std::size_t link, double blocks, double messages) {
    if (messages_[link] == 0) touched_.push_back(link);
    most_blocks_ = std::max(most_blocks_, blocks_[link] += blocks);
    most_messages_ = std::max(most_messages_, messages_[link] += messages);
  }

  /// Sets `traffic` to the most of any link, and begins anew.
  void take(Traffic& traffic) {
    traffic.blocks_ns = most_blocks_, traffic.messages_ns = most_messages_;
    for (const std::size_t link : touched_) blocks_[link] = messages_[link] = 0;
    touched_.clear();
    most_blocks_ = most_messages_ = 0;
  }

 private:
  std::vector<double> blocks_, messages_;
  std::vector<std::size_t> touched_;
  double most_blocks_ = 0, most_messages_ = 0;
};

/// Adds up what a round, and a step, puts on all links. Messages of one size that follow one another from node to node
/// are one operation.
class Loads final : public RoundReader {
 public:
  Loads(const Shape& shape, const Routing& routing, Rank per_node, const NetworkCosts& costs,
        std::vector<StepLoad>& steps)
      : network_(routing.network()), costs_(costs), steps_(steps), nodes_((shape.ranks + per_node - 1) / per_node),
        paths_(routing, nodes_), now_(network_.links.size()), all_(now_), sent_(static_cast<std::size_t>(shape.ranks)),
        received_(sent_), waited_us_(sent_.size(), none) {
    for (Rank rank = 0; rank < shape.ranks; ++rank) node_of_.push_back(rank / per_node);
    for (const Link& link : network_.links) {
      const bool outer = network_.is_host(link.from) || network_.is_host(link.to);
      const double byte_ns = outer ? (costs.node_byte_ns > 0 ? costs.node_byte_ns : costs.byte_ns) : costs.link_byte_ns;
      byte_ns_.push_back(byte_ns / link.capacity);
    }
  }

  void step(const Copies& copies, bool sliding) override {
    finish_step();
    steps_.push_back({copies, sliding, {}, {}});
  }

  void round() override {
    finish_round();
    steps_.back().rounds.emplace_back();
  }

  void message(Rank from, Rank to, std::int64_t blocks) override {
    ++sent_[static_cast<std::size_t>(from)];
    ++received_[static_cast<std::size_t>(to)];
    const std::int32_t source = node_of_[static_cast<std::size_t>(from)],
                       target = node_of_[static_cast<std::size_t>(to)];
    if (source != source_ || target != target_ || blocks != blocks_) begin(source, target, blocks);
    ++count_;
    double& waited_us = waited_us_[static_cast<std::size_t>(to)];
    waited_us = std::max(waited_us, latency_us_);
  }

  void finish_step() {
    finish_round();
    if (steps_.empty() || !steps_.back().sliding) return;
    StepLoad& step = steps_.back();
    for (const RoundLoad& round : step.rounds) {
      step.all.sends += round.sends, step.all.receives += round.receives;
      for (auto which : {&RoundLoad::between, &RoundLoad::within}) {
        Traffic& all = step.all.*which;
        const Traffic& one = round.*which;
        all.largest = std::max(all.largest, one.largest);
        all.latency_us = std::max(all.latency_us, one.latency_us), all.share = std::max(all.share, one.share);
      }
    }
    if (step.all.between.largest > 0) step.all.within.share = 1 - step.all.between.share;
    take(all_, all_within_, step.all);
  }

  std::int64_t messages() const { return messages_; }
  std::int64_t operations() const { return operations_; }

 private:
  void finish_round() {
    flush();
    if (steps_.empty() || steps_.back().rounds.empty()) return;
    RoundLoad& round = steps_.back().rounds.back();
    round.sends = std::ranges::max(sent_), round.receives = std::ranges::max(received_);
    std::ranges::fill(sent_, 0);
    wait(round);
    std::ranges::fill(received_, 0);
    take(now_, now_within_, round);
  }

  /// Who waits for what. Latencies between nodes are positive, and kept so; those within are kept as -1.
  void wait(RoundLoad& round) {
    double far_us = 0;
    std::int64_t far = 0, near = 0;
    for (double& waited_us : waited_us_) {
      far += waited_us >= 0, near += waited_us == nearby;
      far_us += std::max(0.0, waited_us);
      waited_us = none;
    }
    if (far + near == 0) return;
    const auto all = static_cast<double>(far + near);
    round.between.share = static_cast<double>(far) / all, round.within.share = static_cast<double>(near) / all;
    round.between.latency_us = far > 0 ? far_us / static_cast<double>(far) : 0;
    round.within.latency_us = costs_.within_latency_us;
  }

  static void take(Links& links, Links& memories, RoundLoad& round) {
    links.take(round.between);
    memories.take(round.within);
  }

  void add(Links& now, Links& all, std::size_t link, double byte_ns) {
    ++operations_;
    if (byte_ns == 0) return;
    const double messages = static_cast<double>(count_) * byte_ns, blocks = messages * static_cast<double>(blocks_);
    now.add(link, blocks, messages);
    if (steps_.back().sliding) all.add(link, blocks, messages);
  }

  void begin(std::int32_t source, std::int32_t target, std::int64_t blocks) {
    flush();
    source_ = source, target_ = target, blocks_ = blocks;
    path_ = {};
    latency_us_ = nearby;
    if (source == target) return;
    path_ = paths_(source, target);
    latency_us_ =
        std::max(0.0, costs_.latency_us - costs_.hop_us) + (static_cast<double>(path_.size()) - 2) * costs_.hop_us;
  }

  void flush() {
    if (count_ == 0) return;
    RoundLoad& round = steps_.back().rounds.back();
    Traffic& traffic = source_ == target_ ? round.within : round.between;
    traffic.largest = std::max(traffic.largest, blocks_);
    if (source_ == target_) add(now_within_, all_within_, static_cast<std::size_t>(source_), costs_.memory_byte_ns);
    for (const std::int32_t link : path_)
      add(now_, all_, static_cast<std::size_t>(link), byte_ns_[static_cast<std::size_t>(link)]);
    messages_ += count_;
    operations_ += count_;
    count_ = 0;
  }

  static constexpr double none = -2, nearby = -1;  ///< instead of latencies

  const Network& network_;
  const NetworkCosts& costs_;
  std::vector<StepLoad>& steps_;
  std::int32_t nodes_;
  Paths paths_;
  Links now_, all_, now_within_{static_cast<std::size_t>(nodes_)}, all_within_{now_within_};
  std::vector<std::int32_t> sent_, received_, node_of_;
  std::vector<double> waited_us_, byte_ns_;
  std::span<const std::int32_t> path_;  ///< likewise
  double latency_us_ = 0;
  std::int32_t source_ = -1, target_ = -1;  ///< of the messages that are not added yet
  std::int64_t blocks_ = 0, count_ = 0;
  std::int64_t messages_ = 0, operations_ = 0;
};

/// How long the messages of one kind take: all of them on their links, and the largest on its own.
struct Wire {
  double share = 0, latency_us = 0, all_us = 0, one_us = 0;

  Wire(const Traffic& traffic, double byte_ns, double bytes) {
    if (traffic.largest == 0) return;
    share = traffic.share;
    latency_us = traffic.latency_us;
    one_us = (static_cast<double>(traffic.largest) * bytes + envelope_bytes) * byte_ns * us_of_ns;
    all_us = std::max(one_us, (traffic.blocks_ns * bytes + traffic.messages_ns * envelope_bytes) * us_of_ns);
  }
};

struct Round {
  double sends, receives, m;
  bool eager;
  std::array<Wire, 2> wires;

  Round(const RoundLoad& load, const NetworkCosts& costs, double bytes)
      : sends(static_cast<double>(load.sends)), receives(static_cast<double>(load.receives)), m(costs.message_us),
        eager(static_cast<double>(std::max(load.between.largest, load.within.largest)) * bytes <=
              static_cast<double>(costs.eager_bytes)),
        wires{Wire(load.between, costs.byte_ns, bytes), Wire(load.within, costs.within_byte_ns, bytes)} {}

  /// With nothing else in flight.
  double alone_us() const {
    const double taken = eager ? m : 0;  // by a receive
    return std::max({sends * m + receives * taken, sends * m + latency_us() + one_us() + taken,
                     m + latency_us() + all_us() + taken});
  }

  /// Behind another one.
  double following_us() const { return std::max({sends * m, m + latency_us() + one_us(), all_us()}); }

  double latency_us() const { return wires[0].share * wires[0].latency_us + wires[1].share * wires[1].latency_us; }
  double one_us() const { return wires[0].share * wires[0].one_us + wires[1].share * wires[1].one_us; }
  double all_us() const { return std::max(wires[0].all_us, wires[1].all_us); }
};

double step_us(const StepLoad& step, const NetworkCosts& costs, double bytes) {
  double sum =
      step.copies.blocks * bytes * costs.copying.byte_ns * us_of_ns + step.copies.pieces * costs.copying.piece_us;
  if (step.sliding && !step.rounds.empty()) {
    const Round all(step.all, costs, bytes);
    if (all.eager) return sum + all.alone_us();
    sum += all.latency_us();
  }
  for (const RoundLoad& load : step.rounds) {
    const Round round(load, costs, bytes);
    sum += step.sliding ? round.following_us() : round.alone_us();
  }
  return sum;
}

}  // namespace

NetworkEstimate::NetworkEstimate(const Spec& spec, const Shape& shape, const Routing& routing, Rank per_node,
                                 const NetworkCosts& costs)
    : costs_(costs), segment_bytes_(spec.family == Family::direct ? spec.segment_bytes : 0) {
  Loads loads(shape, routing, per_node, costs_, steps_);
  if (const std::string problem = report_rounds(spec, shape, loads); !problem.empty()) throw std::length_error(problem);
  loads.finish_step();
  messages_ = loads.messages();
  operations_ = loads.operations();
}

double NetworkEstimate::pass_us(std::int64_t bytes) const {
  double sum = 0;
  for (const StepLoad& step : steps_) sum += step_us(step, costs_, static_cast<double>(bytes));
  return sum;
}

double NetworkEstimate::time_us(std::int64_t block_bytes) const {
  if (segment_bytes_ == 0 || block_bytes <= segment_bytes_) return pass_us(block_bytes);
  const std::int64_t whole = block_bytes / segment_bytes_, rest = block_bytes % segment_bytes_;
  return static_cast<double>(whole) * pass_us(segment_bytes_) + (rest > 0 ? pass_us(rest) : 0);
}

}  // namespace swapmeet
