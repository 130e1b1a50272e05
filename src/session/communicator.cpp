#include "session/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "mpi/guard.hpp"
#include "mpi/outcome.hpp"
#include "mpi/agreement.hpp"
#include "session/census.hpp"
#include "session/context.hpp"
#include "session/made_everywhere.hpp"
#include "session/probe.hpp"
#include "buffers/device.hpp"
#include "node/crowd.hpp"
#include "node/node_group.hpp"
#include "mpi/progress.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "mpi/world_ranks.hpp"
#include "model/threshold.hpp"
#include "schedule/text_hash.hpp"
#include "verify/verify.hpp"

namespace swapmeet {

namespace {

/// What a hierarchy of MPI_COMM_WORLD is for the ranks of `comm`. Nothing if it lacks one.
std::optional<Hierarchy> translated(const Hierarchy& world_levels, MPI_Comm comm) {
  const std::vector<int> world_ranks = world_ranks_of(comm);
  Hierarchy levels;
  for (const std::vector<std::int32_t>& world_level : world_levels) {
    levels.emplace_back();
    for (const int rank : world_ranks) {
      if (rank < 0 || rank >= static_cast<int>(world_level.size())) return std::nullopt;
      levels.back().push_back(world_level[static_cast<std::size_t>(rank)]);
    }
  }
  return levels;
}

constexpr std::size_t trial_classes = 64;

const Means hoped{true, true};  ///< before the ranks of a node have joined

/// Has the first rank that could not use an option or a file say why: rank 0 of the job has spoken for itself. Collective.
void tell_problems(const Options& options, MPI_Comm user) {
  constexpr int none = std::numeric_limits<int>::max();
  int rank = 0;
  PMPI_Comm_rank(user, &rank);
  if (options.problems.empty()) rank = none;
  if (-most_of_any_rank(-std::int64_t{rank}, user) != rank || rank == none) return;
  const int world_rank = said().world_rank;
  if (world_rank == 0) return;
  for (const std::string& problem : options.problems)
    say_once("warning: rank " + std::to_string(world_rank) + ": " + problem);
}

}  // namespace

const Spec& Decision::spec() const {
  static const Spec native;
  return exchange ? exchange->spec() : native;
}

Communicator::Communicator(MPI_Comm user, const Options& options, Meeting meeting, MPI_Comm ours)
    : options_(options), user_(user), ours_(ours), tags_(most_tag()) {
  begin_to_serve();
  if (options.phases) observe();
  int inter = 0;
  PMPI_Comm_rank(user, &rank_);
  PMPI_Comm_test_inter(user, &inter);
  inter_ = inter != 0;
  if (inter_) {
    PMPI_Comm_remote_size(user, &shape_.ranks);  // as many blocks are sent
    refusal_ = "intercommunicator";
    if (context().watchdog.on()) be_watched();
    return;
  }
  PMPI_Comm_size(user, &shape_.ranks);
  if (!options.trace.file.empty()) {
    calls_to_trace_ = options.trace.call;
    observe();
  }
  if (shape_.ranks == 1) {
    refusal_ = "one rank only";
    return;
  }
  if (context().watchdog.on()) be_watched();
  // so on every rank: each sees ranks of another job
  if (std::ranges::count(world_ranks_of(user), MPI_UNDEFINED) > 0)
    refusal_ = "ranks of several jobs (spawned or connected), not all of which may have the library";
  else if (meeting == Meeting::now) meet();
  if (!refusal_.empty()) trace_nothing();
}

void Communicator::trace_nothing() {
  calls_to_trace_ = 0;  // it takes all ranks
  ignore();
}

// Open MPI makes one communicator at a time: while an MPI_Comm_idup waits for a rank, others wait for it. So there, and
// where progress is locked, nothing is served before the ranks have met in a call that waits for all.
StartedQueue* Communicator::started(Collective collective, std::int64_t block_bytes) {
  if (started_) return started_.get();
  if (!refusal_.empty() || starts_on_host_ || shape_.ranks > most_told_to_all || !has_progress()) return nullptr;
  const bool locked = met_ ? locked_ : progress_is_locked();
  const bool prepared = locked ? neighbours_ && nodes() == 1 : ours_ != MPI_COMM_NULL;
  if (!prepared && (locked || !host_is_mpich)) return want(collective, block_bytes), nullptr;
  auto queue = std::make_unique<StartedQueue>(*this);
  if (!prepared && again(PMPI_Comm_idup, user_, &ours_, &arrival_) != MPI_SUCCESS) return nullptr;
  started_ = std::move(queue);
  return started_.get();
}

void Communicator::want(Collective collective, std::int64_t block_bytes) {
  constexpr std::size_t most = 16;
  const Kind kind{collective, block_bytes};
  if (wanted_.size() == most || std::ranges::count(wanted_, kind) > 0 || cannot_prepare_ || !refusal_.empty()) return;
  wanted_.push_back(kind);
  decide_anew();  // the next blocking call, where they meet, is to look here
  if (wanted_.size() == 1) ++waiting_to_meet;
}

void Communicator::prepare_for_started() {
  --waiting_to_meet;
  const std::vector<Kind> kinds = std::exchange(wanted_, {});
  finish_setting_up();
  setup_policy_.end();
  cannot_prepare_ = !refusal_.empty() || starts_on_host_ || !make_ours();
  for (const Kind& kind : kinds)
    if (!cannot_prepare_) decide(kind.collective, kind.block_bytes);
}

void Communicator::finish_arrival() {
  finish_suspended(arrival_);
  if (ours_ != MPI_COMM_NULL) PMPI_Comm_set_errhandler(ours_, MPI_ERRORS_RETURN);
}

void Communicator::finish_setting_up() {
  if (arrival_ != MPI_REQUEST_NULL) finish_arrival();
  if (met_) return;
  meet();
  if (!refusal_.empty()) trace_nothing();
  if (options_.recording()) record(context().recorder);
}

/// Collective.
void Communicator::meet() {
  met_ = true;
  const auto now = doing(Doing::meeting);
  if (rank_ == 0) number_ = context().number_of_communicator();
  const std::uint64_t device = options_.devices_through_host ? 0 : device_in_use();
  offer_ = Neighbours::offer(context().share_bytes, context().arenas);
  guarded([&] {  // the others wait, whatever this one lacks memory for
    if (rank_ == 0 && !options_.algorithm) recalled_ = context().memory.recall(shape_.ranks);
    warn_of_memory();
    return MPI_SUCCESS;
  });
  Census census = take_census({options_.fingerprint(), device, number_, host_number(), progress_is_locked(),
                               has_several_threads(), context().options.nonblocking == Options::Nonblocking::host,
                               rank_ == 0 ? recalled_.size() : UINT64_MAX, *offer_},
                              agreeing());
  locked_ = census.locked;
  threaded_ = census.threaded;
  starts_on_host_ = census.starts_on_host;
  number_ = census.number;
  hosts_ = std::move(census.hosts);
  offers_ = std::move(census.offers);
  if (post()) meets_processes();
  if (census.device > 0) leave_devices_alone(device_name(census.device));
  if (census.agreed) recalled_bytes_ = std::min<std::size_t>(census.recalled, MemoryStore::most_recalled_bytes);
  if (census.agreed) return;
  if (census.fault) {
    refusal_ = "a rank has died";
    return;
  }
  refusal_ = "the ranks disagree on the SWAPMEET_ variables";
  warn_once(refusal_ + "; using the host MPI. Give every rank the same environment, and the same tuning file.");
  tell_problems(options_, agreeing());
}

bool Communicator::can_be_shared() {
  return met_ && refusal_.empty() && !threaded_ && !observed() && !recorded_ && !options_.check && !hosts_.empty() &&
         find_nodes().empty() && nodes() == 1;
}

void Communicator::use_memory() {
  std::string recalled = std::exchange(recalled_, {});
  recalled.resize(std::exchange(recalled_bytes_, 0));
  const bool had = broadcast(recalled.data(), static_cast<int>(recalled.size()), 0, agreeing()) == MPI_SUCCESS;
  TextHash hash;
  hash.add(recalled);
  if (!same_everywhere(had ? hash.value() : 0, agreeing())) return;
  for (Evidence& one : usable(parse_recalled(recalled))) knowledge_.evidence.push_back(std::move(one));
}

/// What was offered is not used.
void Communicator::withdraw() {
  if (offer_) Neighbours::withdraw(*offer_, context().arenas);
  offer_.reset();
  offers_.clear();
}

void Communicator::leave_devices_alone(std::string_view driver) {
  device_ = "a rank uses " + std::string(driver) + ", so buffers may be memory of its device";
  if (options_.algorithm && options_.algorithm->family != Family::native)
    warn_once(device_ + "; using the host MPI on such communicators. SWAPMEET_DEVICE=host: use " +
              options_.algorithm_from + " there too, and bring such buffers to the host.");
}

Communicator::~Communicator() { close(); }

/// Keeps what this run has measured for later ones.
void Communicator::remember() {
  if (said().world_rank != 0) return;
  for (Evidence one : std::exchange(knowledge_.evidence, {})) {
    if (one.date != 0 || one.kind.nodes == 1) continue;                               // see usable()
    if (of_unequal_blocks(one.kind.collective)) one.kind.size_class = unknown_class;  // as they are decided on
    context().memory.remember(one);
  }
}

void Communicator::close() {
  finish_started();
  remember();
  if (!std::exchange(wanted_, {}).empty()) --waiting_to_meet;
  started_.reset();
  if (ours_ != MPI_COMM_NULL) PMPI_Comm_free(&ours_);
  refusal_ = "MPI_Finalize has been called";
  decide_anew();
  for (auto& decisions : decisions_) decisions.clear();
  plans_.clear();
  neighbour_plans_.clear();
  sized_plans_.clear();
  sparse_.reset();
  leave();
}

void Communicator::revoke() {
  ended_ = true;
  swapmeet::revoke(ours_);
  if (neighbours_) neighbours_->end();
}

int Communicator::failed(int error) {
  if (post()) post()->call_ends();
  if (!ended_ && (is_fault(error) || (neighbours_ && neighbours_->broken() == rank_died()))) revoke();
  return ended_ ? fault_on(user_) : error;
}

void Communicator::record(Recorder& recorder) {
  const bool agreed = !inter_ && (refusal_.empty() || shape_.ranks == 1);
  decide_anew();
  recorded_ = recorder.add(user_, shape_.ranks, inter_, agreed);
}

Decision& Communicator::make_decision(Collective collective, std::int64_t block_bytes) {
  auto decision = std::make_unique<Decision>();
  decision->reason = refusal_.empty() ? device_ : refusal_;
  if (decision->reason.empty() && of_neighbours(collective)) {
    decide_for_neighbours(*decision);
  } else if (decision->reason.empty()) {
    const std::string unknown = wants_nodes(shape_, options_) ? find_nodes() : "";
    if (recalled_bytes_ > 0 && unknown.empty() && awaits_calls(collective)) {
      if (!setup_policy_.over(true)) return postponed(collective);
      use_memory();
    }
    Choice choice = unknown.empty()
                        ? choose(collective, shape_, block_bytes, options_, joined_ ? means_ : hoped, knowledge_)
                        : Choice{Spec{}, unknown};
    if (choice.spec.intra != Transport::mpi && !joined_) {
      if (awaits_calls(collective) && !setup_policy_.over(was_measured(collective, block_bytes)))
        return postponed(collective);
      if (!tuned(collective, shape_, options_)) describe_network();
      join(choice.spec);
      choice = choose(collective, shape_, block_bytes, options_, means_, knowledge_);
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
  withdraw();
  return keep(collective, std::move(decision));
}

/// Whether the automatic choice leaves first calls to the host MPI: setting up takes messages between nodes.
bool Communicator::awaits_calls(Collective collective) const {
  return !options_.algorithm && !tuned(collective, shape_, options_) && nodes() > 1;
}

/// By something else than the host MPI, in an earlier run.
bool Communicator::was_measured(Collective collective, std::int64_t block_bytes) const {
  CallKind kind = kind_of_calls(collective, block_bytes);
  if (of_unequal_blocks(collective)) kind.size_class = unknown_class;
  return std::ranges::any_of(knowledge_.evidence, [&](const Evidence& one) {
    return one.date != 0 && one.kind == kind && one.spec.family != Family::native;
  });
}

Decision& Communicator::postponed(Collective collective) {
  withdraw();  // it takes memory, and others may want it before
  Decision& first = decline_at_first(collective, "one of the first calls: more are awaited before setting up");
  first.compared = false;
  return first;
}

/// Not where it would be in the way of the host MPI's progress.
void Communicator::describe_network() {
  if (simulated || nodes() == 1 || options_.trials_share == 0 || options_.algorithm || Coroutine::here()) return;
  if (!make_ours()) return;
  const std::vector<std::int32_t>& nodes = shape_.hierarchy.front();
  const auto other = std::ranges::find_if(nodes, [&](std::int32_t node) { return node != nodes[0]; });
  const MeasuredNetwork network = probe_network(ours_, rank_, static_cast<Rank>(other - nodes.begin()));
  swapmeet::describe_network(network, knowledge_);
  if (options_.explain && rank_ == 0 && network.known()) say_once("between nodes: " + to_text(network));
}

std::string Communicator::make_order_of(const Spec& spec) {
  if (spec.order != Order::topology || !make_ours()) return "";  // without a communicator nothing is executed
  const MadeOrder& made = *orders_.find(spec, shape_, rank_, ours_, options_.order_seconds);
  if (made.problem.empty() && options_.explain && rank_ == 0)
    say_once("order for " + std::to_string(shape_.ranks) + " ranks by " + made.source.network + ": " + made.summary);
  return made.problem;
}

void Communicator::give_up_order(const Spec& spec, const std::string& problem, Options& options) {
  const std::string warning = swapmeet::give_up_order(spec, problem, options);
  const std::vector<int> world_ranks = world_ranks_of(user_);
  // Rank 0 of the job speaks, but where it is not one of us.
  if (said().world_rank == 0 || (rank_ == 0 && std::ranges::count(world_ranks, 0) == 0))
    say_once("warning: " + warning);
}

std::string Communicator::execute_by(const Spec& spec, Collective collective, Decision& decision) {
  const bool varies = of_unequal_blocks(collective) && needs_sizes(spec);
  if (!varies && spec.family == Family::native) return "";
  const bool by_mpi = varies || spec.intra == Transport::mpi || nodes() > 1;
  if (by_mpi && !make_ours()) return "MPI has no communicator left for us";
  if (varies) decision.exchange = decision.sized = sized_plan_for(spec);
  else decision.exchange = decision.plan = plan_for(spec);
  return decision.exchange ? "" : no_plan;
}

Decision& Communicator::keep(Collective collective, std::unique_ptr<Decision> decision) {
  if (decision->plan && !of_neighbours(collective))
    decision->unchecked_bytes =
        std::min<std::int64_t>(options_.scratch_limit_bytes / decision->plan->working_blocks(), INT_MAX);
  decision->explained = !options_.explain;
  decision->tally = &statistics().tally(collective, shape_.ranks, to_text(decision->spec()), decision->reason);
  auto& decisions = decisions_[static_cast<std::size_t>(collective)];
  decisions.push_back(std::move(decision));
  return *decisions.back();
}

OnlineTuning* Communicator::trying(Collective collective, Decision& decision, std::int64_t block_bytes) {
  if (block_bytes == 0 && !of_unequal_blocks(collective)) return nullptr;
  std::unique_ptr<OnlineTuning>& found = decision.trying[static_cast<std::size_t>(block_class(block_bytes))];
  if (!found) found = std::make_unique<OnlineTuning>(*this, collective, block_bytes, decision, decision.compared);
  return found.get();
}

Decision& Communicator::on_trial(Collective collective, const Spec& spec) {
  auto decision = std::make_unique<Decision>();
  if (spec.intra != Transport::mpi) join(Spec{});
  if (proved(spec, shape_)) execute_by(spec, collective, *decision);
  decision->reason = "on trial";
  decision->least_bytes = decision->most_bytes = -1;  // of no size: decide() does not find it
  Decision& kept = keep(collective, std::move(decision));
  kept.explained = true;
  return kept;
}

std::vector<Expectation> Communicator::candidates_beside(Collective collective, std::int64_t block_bytes,
                                                         const Spec& usual) const {
  return candidates(collective, shape_, block_bytes, options_, joined_ ? means_ : hoped, knowledge_, usual);
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
  decision->least_bytes = decision->most_bytes = -1;  // of no size: decide() does not find it
  return keep(collective, std::move(decision));
}

Decision& Communicator::decline_at_first(Collective collective, const std::string& reason) {
  Decision& first = decline(collective, reason);
  if (tries(collective, shape_, options_)) first.trying.resize(trial_classes);
  return first;
}

Decision& Communicator::within_limits(Decision& decision, Collective collective, bool in_place,
                                      std::int64_t block_bytes) {
  const Plan& plan = *decision.plan;
  if ((in_place || plan.needs() != Exchange::Needs::nothing) &&
      block_bytes > options_.scratch_limit_bytes / plan.working_blocks())
    return decline(collective, too_much_memory);
  if (plan.makes_types() && block_bytes > INT_MAX)
    return decline(collective, "pack=datatype cannot hold blocks of more than 2 GiB");
  return decision;
}

void Communicator::decide_anew() {
  repeat_ = {};
  for (Forwarded& forwarded : forwarded_) forwarded = {};
}

bool Communicator::set_algorithm(const std::optional<Options>& options, bool valid) {
  const Options& wanted = options ? *options : context().options;
  if (!same_everywhere(valid ? wanted.fingerprint() : 0, user_) || !valid) return false;
  options_ = wanted;
  if (options) setup_policy_.end();
  decide_anew();
  if (started_) started_->decide_anew();
  for (auto& decisions : decisions_) decisions.clear();
  sparse_.reset();
  return true;
}

MPI_Comm Communicator::packing() const {
  if (ours_ != MPI_COMM_NULL) return ours_;
  Context& all = context();
  const std::lock_guard lock(all.mutex);
  if (all.alone == MPI_COMM_NULL) all.alone = this_rank_alone();
  return all.alone;
}

bool Communicator::make_ours() {
  if (ours_ == MPI_COMM_NULL) ours_ = same_ranks(user_);
  return ours_ != MPI_COMM_NULL;
}

Plan* Communicator::plan_for(const Spec& spec) {
  return find_or_make(plans_, spec,
                      [&] { return made_everywhere(agreeing(), [&] { return make_plan(spec, neighbours_.get()); }); });
}

SizedPlan* Communicator::sized_plan_for(const Spec& spec) {
  return find_or_make(sized_plans_, spec, [&] {
    return made_everywhere(agreeing(), [&] { return make_sized_plan(spec, neighbours_.get()); });
  });
}

std::unique_ptr<Plan> Communicator::make_plan(const Spec& spec, Neighbours* neighbours) const {
  return std::make_unique<Plan>(spec, schedule_of(spec), spec.intra == Transport::mpi ? nullptr : neighbours, tags_);
}

std::unique_ptr<SizedPlan> Communicator::make_sized_plan(const Spec& spec, Neighbours* neighbours) const {
  const Forwarding forwarded = forwarding(spec, shape_);
  if (spec.sizes == Sizes::padded) {
    std::unique_ptr<Plan> padded = spec.family == Family::native ? nullptr : make_plan(spec, neighbours);
    return std::make_unique<SizedPlan>(spec, shape_.ranks, rank_, forwarded, std::move(padded), tags_);
  }
  Flow travels = flow(spec, orders_.shape_for(spec, shape_), rank_);
  const std::int64_t working_blocks = peak_blocks(travels);
  auto made = std::make_unique<SizedPlan>(spec, std::move(travels), forwarded, working_blocks,
                                          spec.intra == Transport::mpi ? nullptr : neighbours, tags_);
  return made->fits() ? std::move(made) : nullptr;
}

std::string Communicator::find_nodes() {
  if (!shape_.hierarchy.empty()) return "";
  if (!options_.hierarchy) return "SWAPMEET_NODES cannot be used";
  std::optional<Hierarchy> levels;
  if (!options_.nodes.empty()) levels = translated(*options_.hierarchy, user_);
  else if (!hosts_.empty() || gather(host_number(), hosts_, agreeing()) == MPI_SUCCESS)
    levels = {nodes_of_hosts(hosts_)};
  if (!levels) return "the nodes of its ranks cannot be found out";
  shape_.hierarchy = *std::move(levels);
  std::vector<std::int32_t> nodes = shape_.hierarchy.front();
  std::ranges::sort(nodes);
  nodes_ = std::ranges::unique(nodes).begin() - nodes.begin();
  return "";
}

void Communicator::join(const Spec& likely) {
  if (joined_) return;
  joined_ = true;
  const auto now = doing(Doing::joining);
  std::unique_ptr<Plan> plan;
  const bool plans = likely.family != Family::native && !needs_sizes(likely) && likely.order != Order::topology;
  Neighbours::Joined joined = join_over(agreeing(), share_bytes_, [&](Neighbours* neighbours) {
    if (plans) plan = make_plan(likely, neighbours);
    return plan ? plan->working_blocks() : Neighbours::unprepared;
  });
  neighbours_ = std::move(joined.neighbours);
  means_ = std::move(joined.means);
  if (!neighbours_ || joined.prepared == Neighbours::unprepared) return;
  plan->share_working_blocks(joined.prepared);
  plans_.push_back(std::move(plan));
}

Neighbours::Joined Communicator::join_over(MPI_Comm comm, std::int64_t& share_bytes,
                                           const Neighbours::Prepare& prepare) {
  Context& all = context();
  const NodeGroup group(comm, shape_.hierarchy.front());
  std::vector<JoinOffer> offers;
  if (!offers_.empty()) offers = group.of_node(std::exchange(offers_, {}));
  else if (const JoinOffer mine = offer_ ? *offer_ : Neighbours::offer(all.share_bytes, all.arenas);
           group.gather(mine, offers) != MPI_SUCCESS) {
    Neighbours::withdraw(mine, all.arenas);
    return {nullptr, {false, false, "MPI cannot gather what the ranks of a node say"}};
  }
  offer_.reset();
  // Ranks on the node, of whatever communicator: no more than this, unless they share cores.
  const auto members = static_cast<std::int64_t>(offers.size());
  Crowd::of_this_process().has_ranks(members);
  const auto most_members = std::max<std::int64_t>(members, std::min<std::int64_t>(all.world_ranks, processors()));
  Neighbours::Joined joined =
      Neighbours::join(comm, group, offers, options_.shm_limit_bytes / most_members, all.regions, all.arenas, prepare);
  share_bytes = joined.neighbours ? static_cast<std::int64_t>(joined.neighbours->shared_bytes()) / members : 0;
  all.share_bytes += share_bytes;
  return joined;
}

int Communicator::allocate(std::int64_t bytes, char*& memory) {
  if (inter_) return MPI_ERR_COMM;
  memory = !simulated && refusal_.empty() && find_nodes().empty() ? allocate_shared(bytes) : nullptr;
  if (memory) return MPI_SUCCESS;
  Segment segment;
  if (!segment.make_private(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))).empty()) return MPI_ERR_NO_MEM;
  memory = segment.memory();
  context().regions.add(0, std::move(segment), memory);
  return MPI_SUCCESS;
}

char* Communicator::allocate_shared(std::int64_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const NodeGroup group(user_, shape_.hierarchy.front());
  const std::size_t mine = (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + page - 1) / page * page;
  std::vector<std::size_t> parts;
  if (group.gather(mine, parts) != MPI_SUCCESS) return nullptr;
  const auto before = parts.begin() + group.me();
  const std::size_t first = std::accumulate(parts.begin(), before, std::size_t{0});
  Segment segment;
  std::string problem;
  if (!group.share(std::accumulate(before, parts.end(), first), first, mine, segment, problem)) {
    warn_once("swapmeet_memory_allocate: " + problem + "; the memory is not shared");
    return nullptr;
  }
  if (!segment.memory()) return nullptr;  // alone on its node
  char* const memory = segment.memory() + first;
  const std::uint64_t id = segment.name().random;
  context().regions.add(id, std::move(segment), memory);
  return memory;
}

void Communicator::leave() {
  withdraw();
  neighbours_.reset();
  context().share_bytes -= std::exchange(share_bytes_, 0);
}

}  // namespace swapmeet
