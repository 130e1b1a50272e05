#include "session/decisions.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "schedule/names.hpp"
#include "session/context.hpp"
#include "session/probe.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

namespace {

constexpr std::size_t trial_classes = 64;

/// A text such as "; 8 ranks share a core". `ranks_per_core`: the largest value of any kernel (rank_records.hpp). "" if
/// each rank has a core.
std::string sharing(double ranks_per_core) {
  return ranks_per_core > 1 ? "; " + short_text(ranks_per_core, 3) + " ranks share a core" : "";
}

}  // namespace

Decision& Decisions::make(Collective collective, std::int64_t block_bytes, Begun begun) {
  auto decision = std::make_unique<Decision>();
  decision->reason = members_.refusal.empty() ? members_.device : std::string(members_.refusal);
  if (decision->reason.empty() && of_neighbours(collective)) {
    make_for_neighbours(*decision);
  } else if (decision->reason.empty()) {
    const std::string unknown = wants_nodes(members_.shape, members_.options()) ? members_.find_nodes() : "";
    const bool awaits = unknown.empty() && awaits_calls(collective);
    const auto earlier_calls = [&] {
      CallKind kind = kind_of_calls(collective, block_bytes);
      if (of_unequal_blocks(collective)) kind.size_class = unknown_class;
      return in_earlier_runs(kind, knowledge_);
    };
    const auto calls = [&] { return host_time_in_small_calls(collective, members_.shape, block_bytes, knowledge_); };
    if (earlier_runs_.waits_for_use() && awaits) {
      if (!earlier_runs_.many() && !setup_policy_.over({true}, calls())) return postponed(collective);
      earlier_runs_.use(*members_.team, knowledge_);
    }
    const bool measures = begun == Begun::now;  // else that would delay the progress of the host MPI
    if (measures && knowledge_.network.known())
      measure_network();  // enough time may have passed to complete the measurement
    Choice choice =
        unknown.empty() ? choose(collective, block_bytes, members_.options(), node_.means()) : Choice{Spec{}, unknown};
    if (choice.spec.intra != Transport::mpi && !node_.joined()) {
      if (awaits && !setup_policy_.over(earlier_calls(), calls())) return postponed(collective);
      if (awaits) learn_from_first_calls(collective);
      if (measures && !tuned(collective, members_.shape, members_.options())) measure_network();
      plans_.join({choice.spec, agrees_on_sizes(collective, choice.spec)});
      choice = choose(collective, block_bytes, members_.options(), node_.means());
    }
    if (const std::string problem = plans_.make_order_of(choice.spec); !problem.empty()) {
      Options without = members_.options();
      give_up_order(choice.spec, problem, without);
      members_.set_options(without);
      return make(collective, block_bytes, begun);
    }
    decision->reason = std::move(choice.reason);
    decision->least_bytes = choice.least_bytes;
    decision->most_bytes = choice.most_bytes;
    const std::string problem = execute_by(choice.spec, collective, *decision);
    if (!problem.empty()) decision->reason = problem;
    if (!choice.problem.empty()) warn_once(choice.problem);
    if (unknown.empty() && tries(collective, members_.shape, members_.options())) decision->tries = true;
  }
  node_.give_back_reserved();
  return keep(collective, std::move(decision));
}

Choice Decisions::choose(Collective collective, std::int64_t block_bytes, const Options& options,
                         const Means& means) const {
  if (members_.has_own_options() || &options != &members_.options())
    return swapmeet::choose(collective, members_.shape, block_bytes, options, means, knowledge_);
  return context().choices.choose(collective, members_.shape, block_bytes, options, means, knowledge_);
}

/// Whether the automatic choice leaves first calls to the host MPI, because setting up takes messages between nodes.
bool Decisions::awaits_calls(Collective collective) const {
  return !members_.options().algorithm && !tuned(collective, members_.shape, members_.options()) &&
         members_.nodes() > 1;
}

Decision& Decisions::postponed(Collective collective) {
  node_.give_back_reserved();  // it takes shared memory, which other communicators may need first
  Decision& first = decline(collective, "one of the first calls: more are awaited before setting up");
  if (tries(collective, members_.shape, members_.options())) first.tries = true;
  first.compared = false;
  return first;
}

/// Adds the time of the host MPI's calls so far to the shared measurements, for the most frequent class of block sizes.
/// The time is the smallest of the ranks' medians: the rank with the smallest came last, and waited for no other.
/// Collective.
void Decisions::learn_from_first_calls(Collective collective) {
  constexpr double unsure = 0.15;
  std::span<const double> most;
  std::int32_t size_class = unknown_class;
  for (const auto& decision : of(collective))
    for (const auto& tuned : decision->tunings)
      if (!decision->compared && tuned->ordinary && tuned->ordinary->timed_s().size() > most.size())
        most = tuned->ordinary->timed_s(), size_class = tuned->size_class;
  std::vector<double> calls(most.begin(), most.end());
  std::ranges::sort(calls);
  const auto number = static_cast<double>(calls.size());
  std::array least{calls.empty() ? 0 : calls[calls.size() / 2], number, -number, 1.0 * size_class, -1.0 * size_class};
  const bool known = allreduce_once(least, MPI_DOUBLE, MPI_MIN, *members_.team) == MPI_SUCCESS && least[0] > 0;
  if (!known || least[1] != -least[2] || least[3] != -least[4]) return;
  if (of_unequal_blocks(collective)) size_class = unknown_class;
  note({kind_of(collective, members_.shape, size_class), Spec{}, static_cast<std::int64_t>(number), least[0],
        unsure * least[0]});
}

void Decisions::measure_network() {
  if (simulated || members_.nodes() == 1 || members_.options().trials_share == 0 || members_.options().algorithm)
    return;
  if (knowledge_.network.complete() || !members_.has_messages()) return;
  const std::vector<std::int32_t>& nodes = members_.shape.hierarchy.front();
  const auto other = std::ranges::find_if(nodes, [&](std::int32_t node) { return node != nodes[0]; });
  const MeasuredNetwork network = probe_network(*members_.team, static_cast<Rank>(other - nodes.begin()));
  if (!adopt_network(network, knowledge_)) return;
  if (members_.options().explain && members_.rank() == 0)
    say_once("between nodes: " + to_text(network) + sharing(knowledge_.ranks_per_core));
}

void Decisions::give_up_order(const Spec& spec, const std::string& problem, Options& options) {
  const std::string warning = swapmeet::give_up_order(spec, problem, options, knowledge_);
  const std::vector<int>& world_ranks = *members_.team->job_ranks();
  // Rank 0 of the job prints the warning; if it is not a member, rank 0 of the communicator does.
  if (reports().world_rank == 0 || (members_.rank() == 0 && std::ranges::count(world_ranks, 0) == 0))
    say_once("warning: " + warning);
}

std::string Decisions::execute_by(const Spec& spec, Collective collective, Decision& decision) {
  const bool varies = agrees_on_sizes(collective, spec);
  if (!varies && spec.family == Family::native) return "";
  const bool by_mpi = varies || spec.intra == Transport::mpi || members_.nodes() > 1;
  if (by_mpi && !members_.has_messages()) return no_messages;
  decision.use(plans_.find({spec, varies}), varies);
  return decision.exchange ? "" : no_plan;
}

Decision& Decisions::keep(Collective collective, std::unique_ptr<Decision> decision, const std::string& reason) {
  if (!reason.empty()) {
    decision->reason = reason;
    decision->least_bytes = decision->most_bytes = -1;
  }
  if (decision->plan && !of_neighbours(collective))
    decision->unchecked_bytes =
        std::min<std::int64_t>(members_.options().scratch_limit_bytes / decision->plan->working_blocks(), INT_MAX);
  decision->explained_.fill(!members_.options().explain);
  decision->collective = collective, decision->ranks = members_.shape.ranks;
  auto& decisions = of(collective);
  decisions.push_back(std::move(decision));
  return *decisions.back();
}

Tunings& Decisions::tunings_of(Decision& decision, std::int64_t block_bytes) {
  const std::int32_t size_class = block_class(block_bytes);
  auto known = std::ranges::find(decision.tunings, size_class, [](const auto& one) { return one->size_class; });
  if (known == decision.tunings.end()) known = decision.tunings.insert(known, std::make_unique<Tunings>(size_class));
  return **known;
}

StartedTuning* Decisions::start_tuning_for(Collective collective, Decision& decision, std::int64_t block_bytes) {
  if (!decision.tries || !decision.exchange || members_.nodes() <= 1 || of_neighbours(collective) ||
      is_single_step(decision.spec()))
    return nullptr;
  std::unique_ptr<StartedTuning>& found = tunings_of(decision, block_bytes).started;
  if (!found)
    found = std::make_unique<StartedTuning>(
        members_, *members_.team, name_of_start(collective), decision, [this, collective]() -> Decision* {
          Decision* single = nullptr;
          try {
            single = &on_trial(collective, single_step());
          } catch (const std::bad_alloc&) {}  // the ranks agree on it below
          return most_of_any_rank(!single || !single->exchange, *members_.team) == 0 ? single : nullptr;
        });
  return found.get();
}

bool Decisions::counts(StartedTuning& tuning) {
  constexpr int most_others = 64;  // then exchanges of the kind on trial no longer seem to come
  const bool other_tries = counting_ && counting_ != &tuning && !counting_->paused() && ++not_counted_ <= most_others;
  if (other_tries) return false;
  counting_ = &tuning;
  not_counted_ = 0;
  return true;
}

OnlineTuning* Decisions::tuning_for(Collective collective, Decision& decision, std::int64_t block_bytes) {
  if (block_bytes == 0 && !of_unequal_blocks(collective)) return nullptr;
  Tunings& tunings = tunings_of(decision, block_bytes);
  std::unique_ptr<OnlineTuning>& found = tunings.now();
  if (!found)
    found = std::make_unique<OnlineTuning>(communicator_, collective, block_bytes, decision, decision.compared,
                                           tunings.now_direct);
  return found.get();
}

bool Decisions::may_try(const Spec& spec, Collective collective) const {
  const Limited limited =
      swapmeet::within_limits(spec, collective, members_.shape, any_block_bytes, members_.options());
  return limited.spec == spec && limited.problem.empty();
}

Decision& Decisions::on_trial(Collective collective, const Spec& spec) {
  auto decision = std::make_unique<Decision>();
  if (spec.intra != Transport::mpi) plans_.join();
  const bool available = unavailable(spec, node_.means()).empty() && plans_.make_order_of(spec).empty();
  if (available && of_neighbours(collective)) neighbours_.execute_by(spec, *decision);
  else if (available && may_try(spec, collective)) execute_by(spec, collective, *decision);
  Decision& kept = keep(collective, std::move(decision), "on trial");
  kept.explained_.fill(true);
  return kept;
}

Decision& Decisions::by_messages(Collective collective) {
  Decision*& kept = by_messages_[static_cast<std::size_t>(collective)];
  if (kept) return *kept;
  auto decision = std::make_unique<Decision>();
  const Limited limited =
      swapmeet::within_limits(single_step(), collective, members_.shape, any_block_bytes, members_.options());
  const Spec spec = limited.problem.empty() ? limited.spec : single_step();
  const KnownNeighbours* const neighbours = of_neighbours(collective) ? &neighbours_.known() : nullptr;
  if (members_.has_messages()) decision->use(plans_.find({spec, false, neighbours}));
  kept =
      &keep(collective, std::move(decision), "the host MPI can start it in the order of the application's calls only");
  kept->unchecked_bytes = INT64_MAX;
  return *kept;
}

std::vector<Expectation> Decisions::candidates_beside(const CallKind& kind, std::int64_t block_bytes,
                                                      const Spec& usual) const {
  if (neighbours_.work() && of_neighbours(kind.collective))
    return candidates_for_neighbours(kind, block_bytes, *neighbours_.work(), knowledge_);
  return candidates(kind.collective, members_.shape, block_bytes, members_.options(), node_.means(), knowledge_, usual,
                    kind.direct);
}

CallKind Decisions::kind_of_calls(Collective collective, std::int64_t block_bytes) const {
  return kind_of(collective, members_.shape, block_class(block_bytes));
}

void Decisions::note(Evidence measured) {
  for (Evidence& known : knowledge_.evidence)
    if (known.date == 0 && known.of_same_calls(measured) && known.spec == measured.spec) {
      known = std::move(measured);
      return;
    }
  knowledge_.evidence.push_back(std::move(measured));
}

Decision& Decisions::decline(Collective collective, const std::string& reason) {
  auto& decisions = of(collective);
  for (const auto& decision : decisions)
    if (decision->least_bytes < 0 && decision->reason == reason) return *decision;
  return keep(collective, std::make_unique<Decision>(), reason);
}

/// Records how many calls were made between nodes.
void Decisions::remember_calls(Collective collective) {
  if (members_.shape.hierarchy.empty() || members_.nodes() == 1) return;
  std::array<std::int64_t, trial_classes> calls{};
  for (const auto& decision : of(collective))
    for (const auto& tuned : decision->tunings)
      if (tuned->ordinary) calls[static_cast<std::size_t>(tuned->size_class)] += tuned->ordinary->calls();
  for (std::size_t k = 0; k < trial_classes; ++k) {
    const auto size_class = of_unequal_blocks(collective) ? unknown_class : static_cast<std::int32_t>(k);
    if (calls[k] > 0) context().memory.made(kind_of(collective, members_.shape, size_class), calls[k]);
  }
}

void Decisions::make_for_neighbours(Decision& decision) {
  const Choice choice = neighbours_.choose();
  decision.reason = choice.reason;
  if (choice.spec.family == Family::native) {
    const bool several_nodes = members_.nodes() > 1 && !members_.shape.hierarchy.empty();
    if (several_nodes && tries_leaders(members_.shape, members_.options())) decision.tries = true;
    return;
  }
  const std::string problem = neighbours_.execute_by(choice.spec, decision);
  if (!problem.empty()) decision.reason = problem;
}

void Decisions::remember() {
  if (reports().world_rank != 0) return;
  remember_for_later(knowledge_);
  for (const Collective collective : {Collective::alltoall, Collective::alltoallv, Collective::alltoallw})
    remember_calls(collective);
}

void Decisions::clear() {
  for (auto& decisions : all_) decisions.clear();
  by_messages_ = {};
  counting_ = nullptr;
}

}  // namespace swapmeet
