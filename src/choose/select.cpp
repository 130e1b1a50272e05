#include "choose/select.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/generate.hpp"
#include "choose/limits.hpp"
#include "schedule/elementary.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

/// Whether a rule of a tuning file is for this collective and number of ranks.
bool concerns(const Evidence& rule, Collective collective, Rank ranks) {
  return rule.collective == collective && rule.ranks.has(ranks);
}

/// Replaces the spec of a choice by one that stays within the limits.
void limit(Choice& choice, Collective collective, const Shape& shape, std::int64_t block_bytes,
           const Options& options) {
  const Limited within = within_limits(choice.spec, collective, shape, block_bytes, options);
  choice.least_bytes = std::max(choice.least_bytes, within.least_bytes);
  choice.most_bytes = std::min(choice.most_bytes, within.most_bytes);
  if (within.problem.empty()) return;
  const std::string wanted = to_text(choice.spec), instead = to_text(within.spec);
  if (options.algorithm)
    choice.problem = options.algorithm_from + "=" + in_quotes(wanted, 200) + ": " + within.problem + "; using " +
                     (within.spec.family == Family::native ? "the host MPI" : in_quotes(instead, 200)) +
                     " on such communicators";
  choice.reason += ", instead of " + wanted + ": " + within.problem;
  choice.spec = within.spec;
}

Choice by_request(const Options& options, const Shape& shape, const Means& means) {
  const Spec& spec = *options.algorithm;
  std::string problem = unsuitable(spec, shape);
  if (problem.empty()) problem = unavailable(spec, means);
  if (problem.empty()) return {spec, options.algorithm_from};
  const std::string reason = options.algorithm_from + "=" + in_quotes(to_text(spec), 200) + ": " + problem;
  return {Spec{}, reason, reason + "; using the host MPI on such communicators"};
}

/// Returns the choice of the first rule of a tuning file that fits; nullopt if none does. Narrows
/// `same_answer` to the sizes around `block_bytes` with the same answer.
std::optional<Choice> by_tuning(Collective collective, const Shape& shape, std::int64_t block_bytes,
                                const Options& options, const Means& means, Range& same_answer) {
  const Nodes nodes(shape);
  for (const Evidence& rule : options.tuning.evidence) {
    if (!concerns(rule, collective, shape.ranks) || !rule.nodes.has(nodes.count()) ||
        !unavailable(rule.spec, means).empty() || !unsuitable(rule.spec, shape).empty())
      continue;
    if (block_bytes < rule.bytes.least) {
      same_answer.most = std::min(same_answer.most, rule.bytes.least - 1);
    } else if (block_bytes > rule.bytes.most) {
      same_answer.least = std::max(same_answer.least, rule.bytes.most + 1);
    } else {
      same_answer = {std::max(same_answer.least, rule.bytes.least), std::min(same_answer.most, rule.bytes.most)};
      return Choice{rule.spec, "rule: " + rule.origin};
    }
  }
  return std::nullopt;
}

constexpr std::int32_t most_priced_class = 24;  ///< larger blocks get the choice of this class

/// Returns the size class for which a spec is chosen. It is unknown for unequal blocks: ranks do not know the sizes of
/// other ranks.
std::int32_t class_chosen_for(Collective collective, std::int64_t block_bytes) {
  return of_unequal_blocks(collective) ? unknown_class : std::min(block_class(block_bytes), most_priced_class);
}

std::string reason_for(const Expectation& chosen, const Expectation& host) {
  return "expected: " + microseconds(chosen.seconds()) + " (" + basis(chosen) + "), the host MPI " +
         microseconds(host.seconds()) + " (" + basis(host) + ")";
}

/// Returns the choice with the least expected time, among available and suitable specs. `learns`: evidence may be added
/// before blocks of other sizes come, so the choice is not extended to other sizes.
Choice by_expectation(Collective collective, const Shape& shape, std::int64_t block_bytes, const Means& means,
                      const Knowledge& knowledge, bool learns) {
  if (shape.ranks < 2) return {Spec{}, "one rank only"};
  const bool unequal = of_unequal_blocks(collective);
  const std::int32_t size_class = class_chosen_for(collective, block_bytes);
  CallKind kind = kind_of(collective, shape, size_class);
  const PricedFamily priced(kind, means, knowledge.as_found(kind.mean_per_node()), knowledge.model,
                            knowledge.network.known() && knowledge.ranks_per_core > 1);
  std::vector<Expectation> expected;  // of the last class; the host MPI is first
  const auto best_of = [&](std::int32_t of_class) {
    kind.size_class = of_class;
    expected = expectations(kind, priced, knowledge.evidence, knowledge.doubt);
    std::erase_if(expected, [&](const Expectation& one) {
      return (one.calls == 0 && !trusts_model(one.spec)) || !unavailable(one.spec, means).empty();
    });
    while (true) {
      const std::size_t best = decide(expected);
      if (unsuitable(expected[best].spec, shape).empty()) return expected[best];
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(best));  // counted for nodes of equal size only
    }
  };
  const Expectation best = best_of(size_class);
  Choice choice{best.spec, reason_for(best, expected.front())};
  if (unequal) return choice;
  std::int32_t least = size_class, most = size_class;
  while (!learns && least > 0 && best_of(least - 1).spec == choice.spec) --least;
  while (!learns && most < most_priced_class && best_of(most + 1).spec == choice.spec) ++most;
  choice.least_bytes = bytes_of_class(least).least;
  if (most < most_priced_class) choice.most_bytes = bytes_of_class(most).most;
  return choice;
}

}  // namespace

Machine Knowledge::as_found(double per_node) const {
  constexpr double share_of_core = 1.0 / 6;
  Machine found = network.known() ? described_by(network, machine) : machine;
  if (ranks_per_core <= 1) return found;
  MessageCost& between = found.between;
  found.node_message_us = std::max(found.node_message_us, 2 * between.overhead_us * ranks_per_core / per_node);
  if (network.known()) between.byte_ns *= std::max(1.0, share_of_core * ranks_per_core);
  return found;
}

bool adopt_network(const MeasuredNetwork& network, Knowledge& knowledge) {
  constexpr double doubt_of_measured = 0.5;
  const bool completes = network.complete() && !knowledge.network.complete();
  if (!network.known() || (knowledge.network.known() && !completes)) return false;
  knowledge.network = network;
  knowledge.model = Model::pipelined;
  knowledge.doubt.common = doubt_of_measured;
  return true;
}

std::string unavailable(const Spec& spec, const Means& means) {
  if (spec.intra == Transport::mpi) return "";
  if (!means.shared_memory) return "no shared memory: " + means.problem;
  return spec.intra == Transport::cma && !means.single_copy ? "no single copy: " + means.problem : "";
}

std::vector<Expectation> candidates(Collective collective, const Shape& shape, std::int64_t block_bytes,
                                    const Options& options, const Means& means, const Knowledge& knowledge,
                                    const Spec& also, bool direct) {
  constexpr double most_times_best = 3, same_price = 0.03;
  constexpr std::size_t least_kept = 3, most_kept = 8;
  CallKind kind = kind_of(collective, shape, std::min(block_class(block_bytes), most_priced_class));
  kind.direct = direct;
  const std::int64_t bytes = typical_bytes(kind.size_class);
  const PricedFamily priced(kind, means, knowledge.as_found(kind.mean_per_node()), knowledge.model,
                            knowledge.network.known() && knowledge.ranks_per_core > 1);
  std::vector<Expectation> expected = expectations(kind, priced, knowledge.evidence, knowledge.doubt);
  std::vector<Expectation> kept{expected.front()};
  std::stable_sort(expected.begin() + 1, expected.end(), [](const Expectation& one, const Expectation& other) {
    return one.time.log_mean < other.time.log_mean;
  });
  for (std::size_t i = 1; i < expected.size() && kept.size() < most_kept; ++i) {
    Expectation one = expected[i];
    if (kept.size() >= least_kept && one.seconds() > most_times_best * kept[1].seconds()) break;
    // If all parts of two prices are nearly equal, so are the model's errors, and trying both teaches little.
    const auto alike = [&](const Expectation& other) {
      return other.spec.family == one.spec.family && other.spec.dimensions == one.spec.dimensions &&
             one.calls + other.calls == 0 && priced.apart_s(one.spec, other.spec, bytes) < same_price * other.price_s;
    };
    if (!unavailable(one.spec, means).empty() || std::ranges::any_of(kept, alike) ||
        !unsuitable(one.spec, shape).empty())
      continue;
    one.spec = within_limits(one.spec, collective, shape, any_block_bytes, options).spec;
    if (std::ranges::count(kept, one.spec, &Expectation::spec) == 0) kept.push_back(std::move(one));
  }
  if (std::ranges::count(kept, also, &Expectation::spec) == 0) {
    const auto same = std::ranges::find(expected, also, &Expectation::spec);
    const double price_s = priced.seconds(also, bytes);
    kept.push_back(
        same != expected.end() ? *same : Expectation{also, {elementary::log(price_s), knowledge.doubt.own}, price_s});
  }
  return kept;
}

std::string give_up_order(const Spec& spec, const std::string& problem, Options& options, Knowledge& knowledge) {
  const auto asks_for_it = [&](const Evidence& one) {
    return one.spec.order == Order::topology && one.spec.source == spec.source;
  };
  std::erase_if(knowledge.evidence, asks_for_it);
  const bool ruled = std::erase_if(options.tuning.evidence, asks_for_it) > 0;
  const std::string who = options.algorithm ? options.algorithm_from
                          : ruled           ? "tuning file " + in_quotes(options.tuning.name, 200) + ": use"
                                            : "measurements of earlier runs: use";
  options.algorithm.reset();
  return who + "=" + in_quotes(to_text(spec), 200) + ": " + problem +
         "; using the automatic choice on such communicators";
}

double host_time_in_small_calls(Collective collective, const Shape& shape, std::int64_t block_bytes,
                                const Knowledge& knowledge) {
  const CallKind kind = kind_of(collective, shape, class_chosen_for(collective, block_bytes));
  return in_small_calls(kind, knowledge.as_found(kind.mean_per_node()), knowledge.model);
}

bool tuned(Collective collective, const Shape& shape, const Options& options) {
  return std::ranges::any_of(options.tuning.evidence,
                             [&](const Evidence& rule) { return concerns(rule, collective, shape.ranks); });
}

bool tries(Collective collective, const Shape& shape, const Options& options) {
  return !of_neighbours(collective) && options.trials_share > 0 && !options.algorithm &&
         !tuned(collective, shape, options) && shape.ranks > 1;
}

bool wants_nodes(const Shape& shape, const Options& options) {
  if (!options.algorithm) return shape.ranks > 1;
  const Spec& spec = *options.algorithm;
  return spec.intra != Transport::mpi || spec.dimensions.kind == Dimensions::Kind::nodes ||
         (spec.order == Order::groups && spec.group_ranks == 0) || spec.family == Family::leaders;
}

bool wants_means(const Shape& shape, const Options& options) {
  if (options.algorithm) return options.algorithm->intra != Transport::mpi;
  return wants_nodes(shape, options) && Nodes(shape).smallest() > 1;
}

Choice choose(Collective collective, const Shape& shape, std::int64_t block_bytes, const Options& options,
              const Means& means, const Knowledge& knowledge) {
  if (options.algorithm) {
    Choice requested = by_request(options, shape, means);
    limit(requested, collective, shape, block_bytes, options);
    return requested;
  }
  // Between nodes, calls of this run measure the network and the host MPI.
  const bool learns = tries(collective, shape, options) && Nodes(shape).count() > 1;
  Range same_answer;
  std::optional<Choice> ruled = by_tuning(collective, shape, block_bytes, options, means, same_answer);
  Choice choice = ruled ? *std::move(ruled) : by_expectation(collective, shape, block_bytes, means, knowledge, learns);
  choice.least_bytes = std::max(choice.least_bytes, same_answer.least);
  choice.most_bytes = std::min(choice.most_bytes, same_answer.most);
  limit(choice, collective, shape, block_bytes, options);
  return choice;
}

}  // namespace swapmeet
