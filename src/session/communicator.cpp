#include "session/communicator.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "choose/limits.hpp"
#include "mpi/coroutine.hpp"
#include "mpi/outcome.hpp"
#include "team/agreement.hpp"
#include "session/rank_records.hpp"
#include "session/context.hpp"
#include "session/duplicates.hpp"
#include "session/made_everywhere.hpp"
#include "session/started_tuning.hpp"
#include "mpi/progress.hpp"
#include "mpi/report.hpp"
#include "mpi/world_ranks.hpp"
#include "verify/verify.hpp"

namespace swapmeet {

namespace {

constexpr std::size_t trial_classes = 64;

/// Default number of first calls that are left to the host MPI. Setting up takes some 5 us on two ranks. A small call
/// takes 1.4 us longer with MPICH than with this library, and 0.06 us longer with Open MPI
/// (docs/measurements/setup.md).
int first_calls(const Options& options) { return options.first_calls.value_or(host_is_mpich ? 1 : 8); }

const Means expected_means{true, true};  ///< the assumption before the ranks of a node have joined

bool some_twice(const std::vector<int>& ranks) {
  const bool ascend = std::ranges::adjacent_find(ranks, std::greater_equal{}) == ranks.end();  // the usual case
  if (ascend) return false;
  std::vector<int> sorted = ranks;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) != sorted.end();
}

}  // namespace

const Spec& Decision::spec() const {
  static const Spec native;
  return exchange ? exchange->spec() : native;
}

Communicator::Communicator(MPI_Comm user, const Options& options, SetUp set_up, const FirstCall* first)
    : options_(options), user_(user), peers_(user), tags_(most_tag()) {
  begin_to_serve();
  peers_.alone = context().alone();
  peers_.gathered = gathered().ranks;
  if (options.phases) observe();
  int inter = 0;
  PMPI_Comm_rank(user, &rank_);
  PMPI_Comm_test_inter(user, &inter);
  inter_ = inter != 0;
  if (inter_) {
    PMPI_Comm_remote_size(user, &shape_.ranks);  // the number of blocks that this rank sends
    refusal_ = "intercommunicator";
    if (context().watchdog.on()) be_watched();
    return;
  }
  PMPI_Comm_size(user, &shape_.ranks);
  if (!options.trace.file.empty()) {
    calls_to_trace_ = options.trace.call;
    observe();
  }
  if (context().watchdog.on() && shape_.ranks > 1) be_watched();
  auto job_ranks = std::make_shared<const std::vector<int>>(world_ranks_of(user));
  // Each of these refusals is the same on all ranks: every rank sees all ranks of the communicator.
  if (std::ranges::count(*job_ranks, MPI_UNDEFINED) > 0) {
    refusal_ = "ranks of several jobs (spawned or connected), not all of which may have the library";
  } else if (some_twice(*job_ranks)) {
    refusal_ = "threads are ranks here, and messages of the job reach processes";  // MPIX_Threadcomm of MPICH
  } else {
    Job& job = context().job;
    team_ = std::make_unique<Team>(job, std::move(job_ranks), rank_, user);
    peers_.team = team_.get();
    if (shape_.ranks == 1) {
      refusal_ = "one rank only";
      team_->set_common_number(team_->number());
      return;
    }
    locked_ = job.exists() ? job.facts().locked : progress_is_locked();
    starts_on_host_ = !job.exists() || job.facts().starts_on_host;
    if (set_up == SetUp::after_first_calls && may_leave_calls()) setup_policy_.leave(first_calls(options));
    if (set_up != SetUp::later && !setup_policy_.leaves_more()) exchange_records(first);
  }
  if (!refusal_.empty()) trace_nothing();
}

/// Whether first calls may be left to the host MPI. Uses only what is the same on all ranks before records are
/// exchanged.
bool Communicator::may_leave_calls() const {
  return context().job.facts().alike && user_ != MPI_COMM_WORLD && !options_.algorithm &&
         options_.tuning.rules.empty() && !options_.check && !options_.recording() && options_.trace.file.empty();
}

void Communicator::trace_nothing() {
  calls_to_trace_ = 0;  // tracing needs all ranks
  ignore();
}

// If the host MPI's progress is locked, agreements are impossible within it. Non-blocking exchanges are then left to
// the host MPI until the ranks have made their agreements in a blocking call. No queue is made for a communicator that
// is being freed: MPICH would wait forever.
StartedQueue* Communicator::started(Collective collective, std::int64_t block_bytes) {
  if (started_) return started_.get();
  if (!refusal_.empty() || starts_on_host() || !gathers() || !has_progress() || is_being_freed(user_)) return nullptr;
  const bool prepared = locked_ ? node_peers_ && nodes() == 1 : records_known_;
  if (!prepared && !next_start_is_ours()) return nullptr;
  if (!prepared && locked_) return request_preparation(collective, block_bytes), nullptr;
  auto queue = std::make_unique<StartedQueue>(*this);
  if (!records_known_ && begin_record_exchange() != MPI_SUCCESS) return starts_on_host_ = true, nullptr;
  started_ = std::move(queue);
  return started_.get();
}

/// Counts a start, and returns whether further starts are worth setting up for. Some libraries make a communicator for
/// only a few exchanges.
bool Communicator::next_start_is_ours() {
  if (user_ == MPI_COMM_WORLD || joined_) return true;
  starts_ = std::min(starts_ + 1, first_start_of_ours);
  return starts_ == first_start_of_ours;
}

void Communicator::request_preparation(Collective collective, std::int64_t block_bytes) {
  constexpr std::size_t most = 16;
  const Kind kind{collective, block_bytes};
  if (wanted_.size() == most || std::ranges::count(wanted_, kind) > 0 || cannot_prepare_ || !refusal_.empty()) return;
  wanted_.push_back(kind);
  decide_anew();  // so that the next blocking call calls prepare_wanted()
  if (wanted_.size() == 1) ++waiting_for_set_up;
}

void Communicator::prepare_for_started() {
  --waiting_for_set_up;
  const std::vector<Kind> kinds = std::exchange(wanted_, {});
  finish_started();  // a started exchange may still be making decisions
  finish_setting_up();
  setup_policy_.end();
  cannot_prepare_ = !refusal_.empty() || starts_on_host();
  if (cannot_prepare_) return;
  for (const Kind& kind : kinds) decide(kind.collective, kind.block_bytes);
}

Communicator::~Communicator() { close(); }

/// Records the measurements of this run for later runs. Only rank 0 of the job does.
void Communicator::remember() {
  if (reports().world_rank != 0) return;
  for (Evidence one : std::exchange(knowledge_.evidence, {})) {
    // Evidence of earlier runs is not recorded again; evidence of a single node is of no use later (see usable()).
    if (one.date != 0 || one.kind.nodes == 1) continue;
    // Times of exchanges with neighbours hold for this graph of neighbours only.
    if (of_neighbours(one.kind.collective)) continue;
    // Decisions for unequal blocks do not know the sizes.
    if (of_unequal_blocks(one.kind.collective)) one.kind.size_class = unknown_class;
    context().memory.remember(one);
  }
  for (const Collective collective : {Collective::alltoall, Collective::alltoallv, Collective::alltoallw})
    remember_calls(collective);
}

/// Records how many calls were made between nodes.
void Communicator::remember_calls(Collective collective) {
  if (shape_.hierarchy.empty() || nodes() == 1) return;
  std::array<std::int64_t, trial_classes> calls{};
  for (const auto& decision : decisions_[static_cast<std::size_t>(collective)])
    for (std::size_t k = 0; k < decision->trying.size(); ++k)
      if (const auto& counting = decision->trying[k].ordinary) calls[k] += counting->calls();
  for (std::size_t k = 0; k < trial_classes; ++k) {
    const auto size_class = of_unequal_blocks(collective) ? unknown_class : static_cast<std::int32_t>(k);
    if (calls[k] > 0) context().memory.made(kind_of(collective, shape_, size_class), calls[k]);
  }
}

void Communicator::close() {
  finish_started();
  remember();
  if (!std::exchange(wanted_, {}).empty()) --waiting_for_set_up;
  started_.reset();
  if (team_) team_->called(MPI_COMM_NULL);
  refusal_ = "MPI_Finalize has been called";
  decide_anew();
  for (auto& decisions : decisions_) decisions.clear();
  std::ranges::fill(by_messages_, nullptr);
  plans_.clear();
  neighbour_plans_.clear();
  sized_plans_.clear();
  neighbour_sized_plans_.clear();
  sparse_.reset();
  leave();
}

void Communicator::revoke() {
  ended_ = true;
  if (team_) team_->end();
  if (node_peers_) node_peers_->end();
  for (const auto& one : planned_)
    if (const auto planned = one.lock()) (*planned)->revoke();
}

int Communicator::failed(int error) {
  if (post()) post()->call_ends();
  if (!ended_ && (is_fault(error) || (node_peers_ && node_peers_->broken() == rank_died()))) revoke();
  return ended_ ? fault_on(user_) : error;
}

void Communicator::record(Recorder& recorder) {
  const bool can_agree = has_messages() || !Coroutine::here();
  const bool agreed = !inter_ && (refusal_.empty() || shape_.ranks == 1) && can_agree;
  decide_anew();
  recorded_ = recorder.add(peers_, shape_.ranks, inter_, agreed);
}

Decision& Communicator::make_decision(Collective collective, std::int64_t block_bytes) {
  auto decision = std::make_unique<Decision>();
  decision->reason = refusal_.empty() ? device_ : refusal_;
  if (decision->reason.empty() && of_neighbours(collective)) {
    decide_for_neighbours(*decision);
  } else if (decision->reason.empty()) {
    const std::string unknown = wants_nodes(shape_, options_) ? find_nodes() : "";
    const bool awaits = unknown.empty() && awaits_calls(collective);
    const auto calls = [&] { return small_calls(collective, shape_, block_bytes, knowledge_); };
    if (recalled_bytes_ > 0 && awaits) {
      if (!recalled_many_ && !setup_policy_.over({true}, calls())) return postponed(collective);
      use_recalled();
    }
    if (knowledge_.network.known()) measure_network();  // enough time may have passed to complete the measurement
    Choice choice =
        unknown.empty() ? choose(collective, block_bytes, joined_ ? means_ : expected_means) : Choice{Spec{}, unknown};
    if (choice.spec.intra != Transport::mpi && !joined_) {
      if (awaits && !setup_policy_.over(in_earlier_runs(collective, block_bytes), calls()))
        return postponed(collective);
      if (awaits) learn_from_first_calls(collective);
      if (!tuned(collective, shape_, options_)) measure_network();
      join(choice.spec);
      choice = choose(collective, block_bytes, means_);
    }
    if (const std::string problem = make_order_of(choice.spec); !problem.empty()) {
      give_up_order(choice.spec, problem, options_);
      return make_decision(collective, block_bytes);
    }
    decision->reason = std::move(choice.reason);
    decision->least_bytes = choice.least_bytes;
    decision->most_bytes = choice.most_bytes;
    const std::string problem = execute_by(choice.spec, collective, *decision);
    if (!problem.empty()) decision->reason = problem;
    if (!choice.problem.empty()) warn_once(choice.problem);
    if (unknown.empty() && tries(collective, shape_, options_)) decision->trying.resize(trial_classes);
  }
  give_back_reserved();
  return keep(collective, std::move(decision));
}

/// Chooses an algorithm by the options of this communicator.
Choice Communicator::choose(Collective collective, std::int64_t block_bytes, const Means& means) const {
  if (own_options_) return swapmeet::choose(collective, shape_, block_bytes, options_, means, knowledge_);
  return context().choices.choose(collective, shape_, block_bytes, options_, means, knowledge_);
}

/// Whether the automatic choice leaves first calls to the host MPI, because setting up takes messages between nodes.
bool Communicator::awaits_calls(Collective collective) const {
  return !options_.algorithm && !tuned(collective, shape_, options_) && nodes() > 1;
}

/// Measurements and counts of such calls in earlier runs.
EarlierCalls Communicator::in_earlier_runs(Collective collective, std::int64_t block_bytes) const {
  CallKind kind = kind_of_calls(collective, block_bytes);
  if (of_unequal_blocks(collective)) kind.size_class = unknown_class;
  EarlierCalls earlier;
  for (const Evidence& one : knowledge_.evidence) {
    if (one.date == 0 || one.kind != kind) continue;
    earlier.measured = earlier.measured || one.spec.family != Family::native;
    earlier.made = std::max(earlier.made, one.made.calls);
  }
  return earlier;
}

Decision& Communicator::postponed(Collective collective) {
  give_back_reserved();  // it takes shared memory, which other communicators may need first
  Decision& first = decline(collective, "one of the first calls: more are awaited before setting up");
  if (tries(collective, shape_, options_)) first.trying.resize(trial_classes);
  first.compared = false;
  return first;
}

/// Adds the time of the host MPI's calls so far to the shared measurements, for the most frequent class of block sizes.
/// The time is the smallest of the ranks' medians: the rank with the smallest came last, and waited for no other.
/// Collective.
void Communicator::learn_from_first_calls(Collective collective) {
  constexpr double unsure = 0.15;
  std::span<const double> most;
  std::int32_t size_class = unknown_class;
  for (const auto& decision : decisions_[static_cast<std::size_t>(collective)])
    for (std::size_t k = 0; !decision->compared && k < decision->trying.size(); ++k)
      if (const auto& timed = decision->trying[k].ordinary; timed && timed->timed_s().size() > most.size())
        most = timed->timed_s(), size_class = static_cast<std::int32_t>(k);
  std::vector<double> calls(most.begin(), most.end());
  std::ranges::sort(calls);
  const auto number = static_cast<double>(calls.size());
  std::array least{calls.empty() ? 0 : calls[calls.size() / 2], number, -number, 1.0 * size_class, -1.0 * size_class};
  const bool known = reduce_once(least, MPI_DOUBLE, MPI_MIN, peers_) == MPI_SUCCESS && least[0] > 0;
  if (!known || least[1] != -least[2] || least[3] != -least[4]) return;
  if (of_unequal_blocks(collective)) size_class = unknown_class;
  note({kind_of(collective, shape_, size_class), Spec{}, static_cast<std::int64_t>(number), least[0],
        unsure * least[0]});
}

std::string Communicator::make_order_of(const Spec& spec) {
  if (spec.order != Order::topology || !has_messages()) return "";  // no exchange would be executed
  const MadeOrder& made = *orders_.find(spec, shape_, rank_, peers_);
  if (made.problem.empty() && options_.explain && rank_ == 0)
    say_once("order for " + std::to_string(shape_.ranks) + " ranks by " + made.source.network + ": " + made.summary);
  return made.problem;
}

void Communicator::give_up_order(const Spec& spec, const std::string& problem, Options& options) {
  own_options_ = true;
  const std::string warning = swapmeet::give_up_order(spec, problem, options);
  const std::vector<int> world_ranks = world_ranks_of(user_);
  // Rank 0 of the job prints the warning; if it is not a member, rank 0 of the communicator does.
  if (reports().world_rank == 0 || (rank_ == 0 && std::ranges::count(world_ranks, 0) == 0))
    say_once("warning: " + warning);
}

std::string Communicator::execute_by(const Spec& spec, Collective collective, Decision& decision) {
  const bool varies = of_unequal_blocks(collective) && needs_sizes(spec);
  if (!varies && spec.family == Family::native) return "";
  const bool by_mpi = varies || spec.intra == Transport::mpi || nodes() > 1;
  if (by_mpi && !has_messages()) return no_messages;
  if (varies) decision.exchange = decision.sized = sized_plan_for(spec);
  else decision.exchange = decision.plan = plan_for(spec);
  return decision.exchange ? "" : no_plan;
}

Decision& Communicator::keep(Collective collective, std::unique_ptr<Decision> decision) {
  if (decision->plan && !of_neighbours(collective))
    decision->unchecked_bytes =
        std::min<std::int64_t>(options_.scratch_limit_bytes / decision->plan->working_blocks(), INT_MAX);
  decision->explained = !options_.explain;
  decision->collective = collective, decision->ranks = shape_.ranks;
  auto& decisions = decisions_[static_cast<std::size_t>(collective)];
  decisions.push_back(std::move(decision));
  return *decisions.back();
}

OnlineTuning* Communicator::trying(Collective collective, Decision& decision, std::int64_t block_bytes) {
  if (block_bytes == 0 && !of_unequal_blocks(collective)) return nullptr;
  Tunings& tunings = decision.trying[static_cast<std::size_t>(block_class(block_bytes))];
  std::unique_ptr<OnlineTuning>& found = tunings.now();
  if (!found)
    found =
        std::make_unique<OnlineTuning>(*this, collective, block_bytes, decision, decision.compared, tunings.now_direct);
  return found.get();
}

bool Communicator::may_try(const Spec& spec, Collective collective) const {
  const Limited limited = swapmeet::within_limits(spec, collective, shape_, any_block_bytes, options_);
  return limited.spec == spec && limited.problem.empty() && proved(spec, shape_);
}

Decision& Communicator::on_trial(Collective collective, const Spec& spec) {
  auto decision = std::make_unique<Decision>();
  if (spec.intra != Transport::mpi) join(Spec{});
  const bool available = unavailable(spec, means_).empty();
  if (available && of_neighbours(collective)) execute_for_neighbours(spec, *decision);
  else if (available && may_try(spec, collective)) execute_by(spec, collective, *decision);
  decision->reason = "on trial";
  decision->least_bytes = decision->most_bytes = -1;  // so that decide() does not find it
  Decision& kept = keep(collective, std::move(decision));
  kept.explained = true;
  return kept;
}

Decision& Communicator::by_messages(Collective collective) {
  Decision*& kept = by_messages_[static_cast<std::size_t>(collective)];
  if (kept) return *kept;
  auto decision = std::make_unique<Decision>();
  const Limited limited = swapmeet::within_limits(single_step(), collective, shape_, any_block_bytes, options_);
  const Spec spec = limited.problem.empty() ? limited.spec : single_step();
  const auto make_neighbours = [&] { return make_plan_for_neighbours(spec, nullptr); };
  if (has_messages() && of_neighbours(collective))
    decision->plan = find_or_make(neighbour_plans_, spec, [&] { return made_everywhere(peers_, make_neighbours); });
  else if (has_messages()) decision->plan = plan_for(spec);
  decision->exchange = decision->plan;
  decision->reason = "the host MPI can start it in the order of the application's calls only";
  decision->least_bytes = decision->most_bytes = -1;  // so that decide() does not find it
  kept = &keep(collective, std::move(decision));
  kept->unchecked_bytes = INT64_MAX;
  return *kept;
}

std::vector<Expectation> Communicator::candidates_beside(const CallKind& kind, std::int64_t block_bytes,
                                                         const Spec& usual) const {
  if (neighbour_work_ && of_neighbours(kind.collective))
    return candidates_for_neighbours(kind, block_bytes, *neighbour_work_, knowledge_);
  return candidates(kind.collective, shape_, block_bytes, options_, joined_ ? means_ : expected_means, knowledge_,
                    usual, kind.direct);
}

CallKind Communicator::kind_of_calls(Collective collective, std::int64_t block_bytes) const {
  return kind_of(collective, shape_, block_class(block_bytes));
}

void Communicator::note(Evidence measured) {
  for (Evidence& known : knowledge_.evidence)
    if (known.date == 0 && known.kind == measured.kind && known.spec == measured.spec) {
      known = std::move(measured);
      return;
    }
  knowledge_.evidence.push_back(std::move(measured));
}

Decision& Communicator::decline(Collective collective, const std::string& reason) {
  auto& decisions = decisions_[static_cast<std::size_t>(collective)];
  for (const auto& decision : decisions)
    if (decision->least_bytes < 0 && decision->reason == reason) return *decision;
  auto decision = std::make_unique<Decision>();
  decision->reason = reason;
  decision->least_bytes = decision->most_bytes = -1;  // so that decide() does not find it
  return keep(collective, std::move(decision));
}

Decision& Communicator::within_limits(Decision& decision, Collective collective, bool in_place,
                                      std::int64_t block_bytes) {
  const Plan& plan = *decision.plan;
  if ((in_place || plan.needs() != Exchange::Needs::nothing) &&
      !within_scratch_limit(plan.working_blocks(), block_bytes, options_))
    return decline(collective, too_much_memory);
  if (plan.makes_types() && block_bytes > INT_MAX)
    return decline(collective, "pack=datatype cannot hold blocks of more than 2 GiB");
  return decision;
}

void Communicator::decide_anew() {
  repeat_ = {};
  for (LeftToHost& one : left_to_host_) one = {};
}

bool Communicator::set_algorithm(const std::optional<Options>& options, bool valid) {
  const Options& wanted = options ? *options : context().options;
  if (!same_everywhere(valid ? wanted.fingerprint() : 0, user_) || !valid) return false;
  options_ = wanted;
  was_set_ = own_options_ = options.has_value();
  if (options) setup_policy_.end(), starts_ = first_start_of_ours;
  decide_anew();
  if (started_) started_->decide_anew();
  for (auto& decisions : decisions_) decisions.clear();
  std::ranges::fill(by_messages_, nullptr);
  sparse_.reset();
  return true;
}

Plan* Communicator::plan_for(const Spec& spec) {
  return find_or_make(plans_, spec,
                      [&] { return made_everywhere(peers_, [&] { return make_plan(spec, node_peers_.get()); }); });
}

SizedPlan* Communicator::sized_plan_for(const Spec& spec) {
  return find_or_make(sized_plans_, spec, [&] {
    return made_everywhere(peers_, [&] { return make_sized_plan(spec, node_peers_.get()); });
  });
}

std::unique_ptr<Plan> Communicator::make_plan(const Spec& spec, NodePeers* node_peers) const {
  return std::make_unique<Plan>(spec, schedule_of(spec), spec.intra == Transport::mpi ? nullptr : node_peers, tags_);
}

std::unique_ptr<SizedPlan> Communicator::make_sized_plan(const Spec& spec, NodePeers* node_peers, bool waits) const {
  const Forwarding forwarded = forwarding(spec, shape_);
  if (spec.sizes == Sizes::padded) {
    // The host MPI cannot serve started exchanges: see by_messages().
    const bool by_host = spec.family == Family::native;
    std::unique_ptr<Plan> padded =
        by_host && waits ? nullptr : make_plan(by_host ? single_step() : spec, by_host ? nullptr : node_peers);
    return std::make_unique<SizedPlan>(spec, shape_.ranks, rank_, forwarded, std::move(padded), tags_);
  }
  Flow travels = flow(spec, orders_.shape_for(spec, shape_), rank_);
  const std::int64_t working_blocks = peak_blocks(travels);
  auto made = std::make_unique<SizedPlan>(spec, std::move(travels), forwarded, working_blocks,
                                          spec.intra == Transport::mpi ? nullptr : node_peers, tags_);
  return made->fits() ? std::move(made) : nullptr;
}

}  // namespace swapmeet
