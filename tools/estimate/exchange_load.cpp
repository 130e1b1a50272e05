#include "estimate/exchange_load.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>

#include "estimate/rounds.hpp"

namespace swapmeet {

namespace {

constexpr std::int64_t most_remembered = std::int64_t{1} << 24;  ///< limit on the links of stored paths

/// A cache of the paths between nodes, as far as there is room.
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
    if (links.empty()) links.push_back(0);  // index 0 of place_ means that there is no path
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
  /// for each pair: index in links_ of the length of its path, which the path follows; 0: not in the cache
  std::vector<std::int32_t> place_;
  std::vector<std::int32_t> links_, links_now_;
};

/// The blocks and messages on each link, and their maximum over the links of each kind.
class Links {
 public:
  /// In place of the link on which messages continue: the path ends, or that link is irrelevant.
  static constexpr std::int32_t nowhere = -1;

  explicit Links(std::size_t links) : load_(links) {}

  void add(std::size_t link, bool outer, std::int32_t next, double blocks, double messages) {
    Load& load = load_[link];
    if (load.messages == 0) touched_.push_back(link);
    load.blocks += blocks, load.messages += messages;
    if (load.next == nowhere) load.next = next;
    if (next != nowhere) (next == load.next ? load.together : load.apart) += blocks;
    Busiest& most = outer ? hosts_ : between_;
    most.blocks = std::max(most.blocks, load.blocks), most.messages = std::max(most.messages, load.messages);
  }

  /// Sets `traffic` to the maximum over the links, and resets all loads.
  void take(Traffic& traffic) {
    traffic.hosts = hosts_, traffic.between = between_, traffic.mixed = {};
    for (const std::size_t link : touched_) {
      Load& load = load_[link];
      const double queued = load.messages > 1 ? 1 - 1 / load.messages : 0;  // all but the first message wait
      const Mixed mixed{load.blocks, queued * 2 * std::min(load.together, load.apart)};
      if (mixed.apart > 0 && mixed.blocks + mixed.apart > traffic.mixed.blocks + traffic.mixed.apart)
        traffic.mixed = mixed;
      load = {};
    }
    touched_.clear();
    hosts_ = between_ = {};
  }

 private:
  struct Load {
    double blocks = 0, messages = 0;
    std::int32_t next = nowhere;
    double together = 0, apart = 0;  ///< blocks that continue on `next`, and on other links
  };
  std::vector<Load> load_;
  std::vector<std::size_t> touched_;
  Busiest hosts_, between_;
};

/// The messages that each rank receives in a round, by size.
class Received {
 public:
  explicit Received(std::size_t ranks) : all_(ranks) {}

  void add(std::size_t rank, std::int64_t blocks) {
    ++all_[rank];
    std::vector<std::int32_t>& of_rank = by_size_[blocks];
    of_rank.resize(all_.size());
    ++of_rank[rank];
  }

  /// Sets the receives of `round` to those of the rank with the most, and resets all counts.
  void take(RoundLoad& round) {
    const auto rank = static_cast<std::size_t>(std::ranges::max_element(all_) - all_.begin());
    round.receives = all_[rank];
    for (const auto& [blocks, of_rank] : by_size_) round.arrivals.push_back({blocks, of_rank[rank]});
    std::ranges::fill(all_, 0);
    by_size_.clear();
  }

 private:
  std::vector<std::int32_t> all_;  ///< of each rank
  std::map<std::int64_t, std::vector<std::int32_t>> by_size_;
};

/// Sums up the load of each round, and of each step, on all links. Consecutive messages of one size between the same
/// two nodes are one operation.
class Loads final : public RoundReader {
 public:
  Loads(const Shape& shape, const Routing& routing, Rank per_node, std::vector<StepLoad>& steps)
      : network_(routing.network()), steps_(steps), nodes_((shape.ranks + per_node - 1) / per_node),
        paths_(routing, nodes_), now_(network_.links.size()), all_(now_), sent_(static_cast<std::size_t>(shape.ranks)),
        received_(sent_.size()), left_(sent_), waited_hops_(sent_.size(), none) {
    for (Rank rank = 0; rank < shape.ranks; ++rank) node_of_.push_back(rank / per_node);
  }

  void step(const Copies& copies, const TypedCopies& typed, bool sliding) override {
    finish_step();
    steps_.push_back({copies, typed, sliding, {}, {}});
  }

  void round() override {
    finish_round();
    steps_.back().rounds.emplace_back();
  }

  void message(Rank from, Rank to, std::int64_t blocks) override {
    ++sent_[static_cast<std::size_t>(from)];
    received_.add(static_cast<std::size_t>(to), blocks);
    const std::int32_t source = node_of_[static_cast<std::size_t>(from)],
                       target = node_of_[static_cast<std::size_t>(to)];
    if (source != source_ || target != target_ || blocks != blocks_) begin(source, target, blocks);
    ++count_;
    left_[static_cast<std::size_t>(from)] += source != target;
    std::int32_t& waited = waited_hops_[static_cast<std::size_t>(to)];
    waited = std::max(waited, hops_);
  }

  void finish_step() {
    finish_round();
    if (steps_.empty() || !steps_.back().sliding) return;
    StepLoad& step = steps_.back();
    for (const RoundLoad& round : step.rounds) {
      step.all.sends += round.sends, step.all.receives += round.receives;
      step.all.arrivals.insert(step.all.arrivals.end(), round.arrivals.begin(), round.arrivals.end());
      for (auto which : {&RoundLoad::between, &RoundLoad::within}) {
        Traffic& all = step.all.*which;
        const Traffic& one = round.*which;
        all.largest = std::max(all.largest, one.largest);
        all.hops = std::max(all.hops, one.hops), all.share = std::max(all.share, one.share);
        all.mean_hops = std::max(all.mean_hops, one.mean_hops);
      }
    }
    if (step.all.between.largest > 0) step.all.within.share = 1 - step.all.between.share;
    take(all_, all_within_, step.all);
  }

  std::int64_t messages() const { return messages_; }
  std::int64_t operations() const { return operations_; }
  std::int64_t peers() const { return left_.empty() ? 0 : std::ranges::max(left_); }

 private:
  void finish_round() {
    flush();
    if (steps_.empty() || steps_.back().rounds.empty()) return;
    RoundLoad& round = steps_.back().rounds.back();
    round.sends = std::ranges::max(sent_);
    std::ranges::fill(sent_, 0);
    wait(round);
    received_.take(round);
    take(now_, now_within_, round);
  }

  /// Determines how many ranks wait for messages from other nodes, and how many for messages of their own node only.
  void wait(RoundLoad& round) {
    std::int64_t far = 0, near = 0, hops = 0;
    for (std::int32_t& waited : waited_hops_) {
      far += waited >= 0, near += waited == nearby;
      hops += std::max(0, waited);
      waited = none;
    }
    if (far + near == 0) return;
    const auto all = static_cast<double>(far + near);
    round.between.share = static_cast<double>(far) / all, round.within.share = static_cast<double>(near) / all;
    round.between.hops = far > 0 ? static_cast<double>(hops) / static_cast<double>(far) : 0;
    if (round_far_ > 0) round.between.mean_hops = static_cast<double>(round_hops_) / static_cast<double>(round_far_);
    round_far_ = round_hops_ = 0;
  }

  static void take(Links& links, Links& memories, RoundLoad& round) {
    links.take(round.between);
    memories.take(round.within);
  }

  void add(Links& now, Links& all, std::size_t link, bool outer, std::int32_t next, std::int32_t capacity) {
    ++operations_;
    const double messages = static_cast<double>(count_) / capacity, blocks = messages * static_cast<double>(blocks_);
    now.add(link, outer, next, blocks, messages);
    if (steps_.back().sliding) all.add(link, outer, next, blocks, messages);
  }

  void begin(std::int32_t source, std::int32_t target, std::int64_t blocks) {
    flush();
    source_ = source, target_ = target, blocks_ = blocks;
    path_ = {};
    hops_ = nearby;
    if (source == target) return;
    path_ = paths_(source, target);
    hops_ = static_cast<std::int32_t>(path_.size()) - 2;
  }

  void flush() {
    if (count_ == 0) return;
    RoundLoad& round = steps_.back().rounds.back();
    Traffic& traffic = source_ == target_ ? round.within : round.between;
    traffic.largest = std::max(traffic.largest, blocks_);
    if (source_ == target_) add(now_within_, all_within_, static_cast<std::size_t>(source_), true, Links::nowhere, 1);
    for (std::size_t i = 0; i < path_.size(); ++i) {
      const Link& link = network_.links[static_cast<std::size_t>(path_[i])];
      const bool outer = network_.is_host(link.from) || network_.is_host(link.to);
      const std::int32_t next = !outer && i + 2 < path_.size() ? path_[i + 1] : Links::nowhere;
      add(now_, all_, static_cast<std::size_t>(path_[i]), outer, next, link.capacity);
    }
    if (source_ != target_) round_far_ += count_, round_hops_ += count_ * hops_;
    messages_ += count_;
    operations_ += count_;
    count_ = 0;
  }

  static constexpr std::int32_t none = -2, nearby = -1;  ///< values in place of a number of hops

  const Network& network_;
  std::vector<StepLoad>& steps_;
  std::int32_t nodes_;
  Paths paths_;
  Links now_, all_, now_within_{static_cast<std::size_t>(nodes_)}, all_within_{now_within_};
  std::vector<std::int32_t> sent_;  ///< messages of each rank in this round
  Received received_;               ///< messages received in this round
  std::vector<std::int32_t> left_;  ///< messages of each rank to other nodes in all rounds
  std::vector<std::int32_t> waited_hops_, node_of_;
  std::span<const std::int32_t> path_;  ///< of the messages from source_ to target_
  std::int32_t hops_ = nearby;          ///< of the messages from source_ to target_
  std::int64_t round_far_ = 0, round_hops_ = 0;
  std::int32_t source_ = -1, target_ = -1;  ///< nodes of the messages that are not added yet
  std::int64_t blocks_ = 0, count_ = 0;
  std::int64_t messages_ = 0, operations_ = 0;
};

}  // namespace

ExchangeLoad exchange_load(const Spec& spec, const Shape& shape, const Routing& routing, Rank per_node) {
  ExchangeLoad load;
  Loads loads(shape, routing, per_node, load.steps);
  if (const std::string problem = report_rounds(spec, shape, loads); !problem.empty()) throw std::length_error(problem);
  loads.finish_step();
  load.messages = loads.messages();
  load.operations = loads.operations();
  load.peers = loads.peers();
  return load;
}

}  // namespace swapmeet
