#include "choose/neighbours.hpp"

#include <algorithm>

#include "algorithms/neighbours.hpp"
#include "model/price.hpp"

namespace swapmeet {

namespace {

constexpr std::size_t numbers_of_phase = 4;  ///< messages and blocks within nodes, then between them
constexpr std::size_t numbers_of_candidate = 3 * numbers_of_phase;

/// What is priced: as the host MPI does it; all ranks of a node share its messages to others; one rank sends them all.
enum Candidate : std::size_t { as_host, all_lead, one_leads, all_candidates };
static_assert(std::tuple_size_v<NeighbourWork> == all_candidates * numbers_of_candidate);

Spec spec_of(std::size_t candidate) {
  Spec spec{.family = candidate < all_lead ? Family::direct : Family::leaders};
  if (candidate != as_host) spec.intra = Transport::automatic;
  if (candidate == all_lead) spec.leaders = 0;
  return spec;
}

/// Sets the numbers of a phase to those of the direction that has more.
void count_phase(const SlotFlow& flow, const SlotFlow::Phase& phase, const Shape& shape, double* numbers) {
  std::array<double, numbers_of_phase> sent{}, received{};
  const auto add = [&](const Message& message, std::array<double, numbers_of_phase>& to) {
    const std::size_t first = shape.share_node(flow.rank, message.peer) ? 0 : 2;
    to[first] += 1;
    for (const Run& run : flow.runs_of(message)) to[first + 1] += run.count;
  };
  for (const Round& round : flow.rounds_of(phase)) {
    for (const Message& message : flow.sends_of(round)) add(message, sent);
    for (const Message& message : flow.receives_of(round)) add(message, received);
  }
  for (std::size_t i = 0; i < numbers_of_phase; ++i) numbers[i] = std::max(sent[i], received[i]);
}

/// Phases of so many numbers, as if all ranks of a node that send to others had as much to do as the one that has most.
Work work_of(std::span<const double> numbers, const Nodes& nodes, const Spec& spec) {
  const bool shared = spec.intra != Transport::mpi;
  const std::int32_t senders = forwards(spec) && spec.leaders > 0 ? spec.leaders : nodes.largest();
  Work work;
  work.shared = shared;
  for (std::size_t i = 0; i < numbers.size(); i += numbers_of_phase) {
    const auto traffic = [&](std::size_t first, double ranks) {
      const double messages = numbers[first], blocks = numbers[first + 1];
      return PhaseTraffic{static_cast<std::int64_t>(messages), static_cast<std::int64_t>(blocks), ranks * messages,
                          ranks * blocks};
    };
    PhaseWork phase;
    phase.within = traffic(i, nodes.largest());
    phase.between = traffic(i + 2, senders);
    if (phase.messages() == 0) continue;
    const auto blocks = static_cast<double>(phase.within.blocks + phase.between.blocks);
    phase.by_size = {EqualMessages{phase.messages(), blocks / static_cast<double>(phase.messages())}};
    spread_batches(phase, 1);
    if (forwards(spec))
      work.packed.blocks += 2 * blocks, work.packed.pieces += 2 * blocks;  // gathered, and scattered again
    work.phases.push_back(phase);
  }
  return work;
}

Choice by_order(const Options& options, const Means& means) {
  Spec spec = *options.algorithm;
  if (spec.intra == Transport::rows) spec.intra = Transport::automatic;  // rows are for exchanges of all with all
  std::string problem = unsuitable_for_neighbours(spec);
  if (problem.empty()) problem = unavailable(spec, means);
  if (problem.empty()) return {spec, options.algorithm_from};
  return {Spec{}, options.algorithm_from + "=" + in_quotes(to_text(*options.algorithm), 200) + ": " + problem};
}

}  // namespace

Choice choose_for_neighbours(const Options& options, const Means& means, bool host_is_slow) {
  if (options.algorithm) return by_order(options, means);
  if (!host_is_slow) return {Spec{}, "by default the host MPI, which is as fast with large blocks"};
  Spec spec{.family = Family::direct};
  spec.intra = Transport::automatic;
  const std::string problem = unavailable(spec, means);
  return problem.empty() ? Choice{spec, "all ranks share a node"} : Choice{Spec{}, problem};
}

NeighbourWork work_of(const Surroundings& all, Rank rank) {
  NeighbourWork work{};
  for (std::size_t i = 0; i < all_candidates; ++i) {
    const SlotFlow flow = slot_flow(spec_of(i), all, rank);
    double* next = work.data() + i * numbers_of_candidate;
    for (const SlotFlow::Phase& phase : flow.phases) {
      count_phase(flow, phase, all.shape, next);
      next += numbers_of_phase;
    }
  }
  return work;
}

Choice choose_between_nodes(const Shape& shape, const NeighbourWork& most, const Means& means,
                            const Knowledge& knowledge) {
  if (knowledge.ranks_per_core > 1)
    return {Spec{}, "by default the host MPI where neighbours are on several nodes and share cores"};
  constexpr double by_model = 0.9;
  constexpr std::int64_t least_bytes = 64, most_bytes = 4 << 10;
  if (std::string problem = unavailable(spec_of(all_lead), means); !problem.empty())
    return {Spec{}, std::move(problem)};
  const Nodes nodes(shape);
  const Machine machine = knowledge.as_found(static_cast<double>(shape.ranks) / nodes.count());
  const auto time = [&](std::size_t i, std::int64_t bytes) {
    const auto numbers = std::span(most).subspan(i * numbers_of_candidate, numbers_of_candidate);
    return price(work_of(numbers, nodes, spec_of(i)), machine, knowledge.model, bytes).total();
  };
  const std::size_t best = time(all_lead, least_bytes) < time(one_leads, least_bytes) ? all_lead : one_leads;
  const auto wins = [&](std::int64_t bytes) { return time(best, bytes) < by_model * time(as_host, bytes); };
  if (!wins(least_bytes)) return {Spec{}, "the host MPI is expected to be as fast"};
  Spec spec = spec_of(best);
  for (spec.direct_bytes = least_bytes; spec.direct_bytes < most_bytes && wins(2 * spec.direct_bytes);)
    spec.direct_bytes *= 2;
  return {spec, "the model: combined messages between nodes take less"};
}

}  // namespace swapmeet
