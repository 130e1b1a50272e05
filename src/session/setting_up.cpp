/// What the ranks of a communicator settle before they exchange: census, memory, nodes, shared memory, network.
#include "session/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "mpi/guard.hpp"
#include "team/agreement.hpp"
#include "session/census.hpp"
#include "session/disagreement.hpp"
#include "session/context.hpp"
#include "session/probe.hpp"
#include "buffers/device.hpp"
#include "node/crowd.hpp"
#include "node/node_group.hpp"
#include "mpi/progress.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "mpi/slow_wait.hpp"
#include "mpi/world_ranks.hpp"
#include "schedule/names.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

namespace {

constexpr const char* of_session =
    "all ranks have called MPI_Session_init: it may be a session's, and outlive MPI_Finalize";

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

/// Watches what follows: ranks without the library never come there. A watchdog with a shorter limit has its own.
SlowWait await_all_ranks(MPI_Comm comm) { return {comm, "the first all-to-all of a communicator", patience_s()}; }

/// "; 8 ranks share a core", the most of any host; "" where each has one.
std::string sharing(double ranks_per_core) {
  return ranks_per_core > 1 ? "; " + short_text(ranks_per_core, 3) + " ranks share a core" : "";
}

}  // namespace

void Communicator::finish_setting_up() {
  if (met_) return;
  told_.empty() ? meet() : end_meeting();
  if (!refusal_.empty()) trace_nothing();
  if (options_.recording()) record(context().recorder);
}

/// The blocks of `first`, if they are small and lie as they are sent; else nothing.
std::vector<char> Communicator::to_carry(const FirstCall& first) {
  constexpr std::int64_t most_bytes = sizeof CensusRecord::block;
  if (simulated || shape_.ranks > gathered().with_blocks || may_be_on_device()) return {};
  const bool in_place = first.send == MPI_IN_PLACE;
  const Datatype& in = datatypes_[first.receive_type];
  const Datatype& out = in_place ? in : datatypes_[first.send_type];
  if (!in.predefined || !out.predefined || !in.contiguous || !out.contiguous || in.size == 0) return {};
  if (first.receive_count > most_bytes / in.size) return {};
  const std::int64_t bytes = first.receive_count * in.size;
  if (!in_place && first.send_count * out.size != bytes) return {};
  const char* const blocks = static_cast<const char*>(in_place ? first.receive : first.send);
  return {blocks, blocks + bytes * shape_.ranks};
}

void Communicator::meet(const FirstCall* first) {
  met_ = true;
  calls_left_ = 0;
  const auto now = doing(Doing::meeting);
  mine_ = introduce();
  if (first) carried_ = to_carry(*first);
  Census census = [&] {
    const SlowWait watched = await_all_ranks(user_);
    return take_census(mine_, gathered(), user_, carried_);
  }();
  make_job(census);
  learn(std::move(census));
}

int Communicator::begin_to_meet() {
  calls_left_ = 0;  // when it ends is known to each rank at another time
  mine_ = introduce();
  const int error = begin_census(mine_, told_, user_, arrival_);
  if (error) told_.clear();
  return error;
}

void Communicator::end_meeting() {
  met_ = true;
  const int error = [&] {
    const SlowWait watched = await_all_ranks(user_);
    return arrival_ == MPI_REQUEST_NULL ? MPI_SUCCESS : finish_suspended(arrival_);
  }();
  Census census;
  if (error) census.fault = is_fault(error);
  else census = read_census(mine_, told_);
  told_ = {};
  learn(std::move(census));
}

/// What this rank tells the others.
CensusRecord Communicator::introduce() {
  if (rank_ == 0) number_ = context().number_of_communicator();
  const std::uint64_t device = options_.devices_through_host ? 0 : device_in_use();
  offer_ = Neighbours::offer(context().share_bytes, context().arenas);
  guarded([&] {  // the others wait, whatever this one lacks memory for
    if (rank_ == 0 && !options_.algorithm) recalled_ = context().memory.recall(shape_.ranks);
    warn_of_memory();
    return MPI_SUCCESS;
  });
  CensusRecord mine{{},
                    own_options_ ? options_.fingerprint() : context().fingerprint,
                    device,
                    number_,
                    host_number(),
                    kernel_number()};
  if (!simulated) mine.launched = static_cast<std::uint32_t>(launched_here());
  if (!simulated) mine.cores = static_cast<std::uint32_t>(processors());
  mine.locked = progress_is_locked();
  mine.threaded = has_several_threads();
  mine.starts_on_host = context().options.nonblocking == Options::Nonblocking::host;
  mine.observed = observed();
  mine.sessions = sessions_opened;
  if (rank_ == 0) mine.recalled = static_cast<std::uint32_t>(recalled_.text.size()), mine.many = recalled_.many;
  mine.offer = *offer_;
  mine.team = team_->number();
  mine.job = context().job.exists();
  return mine;
}

// The library was loaded after MPI_Init.
void Communicator::make_job(const Census& census) {
  if (census.job || census.fault || shape_.ranks != context().world_ranks) return;
  context().job.begin(patience_s());
  JobFacts mine = facts_of(context().options);
  mine.locked = census.locked;
  mine.threaded = census.threaded;
  context().job.agree(mine, context().fingerprint);
  auto numbered = std::make_unique<Team>(context().job, team_->job_ranks(), rank_, user_);
  if (numbered->tell_numbers(user_) != MPI_SUCCESS) return;
  team_ = std::move(numbered);
  peers_.team = team_.get();
}

void Communicator::learn(Census census) {
  number_ = census.number;
  refuse_strangers(census);
  if (!refusal_.empty()) return;
  const bool all_answered = census.agreed || !census.offers.empty();
  if (all_answered && shape_.ranks == context().world_ranks) SlowWait::all_ranks_came();
  if (!census.teams.empty() && census.job) team_->hear(census.teams);
  else if (census.team_everywhere >= 0) team_->hear_same(census.team_everywhere);
  else if (census.job && census.teams.empty() && !census.fault) team_->tell_numbers(user_);
  locked_ |= census.locked;
  threaded_ = census.threaded;
  starts_on_host_ |= census.starts_on_host;
  some_observed_ = census.observed;
  hosts_ = std::move(census.hosts);
  offers_ = std::move(census.offers);
  knowledge_.ranks_per_core = census.ranks_per_core;
  Crowd::of_this_process().has_ranks(census.ranks_here);
  if (post()) meets_processes();
  if (census.device > 0) leave_devices_alone(device_name(census.device));
  recalled_many_ = census.many;
  if (census.agreed) recalled_bytes_ = std::min<std::size_t>(census.recalled, MemoryStore::most_recalled_bytes);
  if (census.agreed && census.sessions && user_ != MPI_COMM_WORLD) refusal_ = of_session;
  if (census.agreed) return;
  if (census.fault) {
    refusal_ = "a rank has died";
    return;
  }
  refusal_ = "the ranks disagree on the SWAPMEET_ variables";
  if (Coroutine::here() && !has_messages()) return;  // by which they would tell one another more
  warn_once(refusal_, disagreement(options_, peers_) +
                          "; using the host MPI. Give every rank the same environment, and the same tuning file.");
  tell_problems(options_, peers_);
}

/// Where a rank has sent no record, ends the call with an error: other ranks may have got records for what that rank sent,
/// so that their data are wrong. Versions that differ leave the communicator to the host MPI.
void Communicator::refuse_strangers(const Census& census) {
  constexpr const char* versions = "ranks have different versions of the library";
  constexpr const char* instead = "; using the host MPI. Preload the same file in all ranks";
  if (!census.same_version) {
    refusal_ = versions;
    warn_once(refusal_, instead);
  }
  if (census.strangers.empty()) return;
  const CensusRecord::Version own;
  const auto rank = static_cast<std::size_t>(census.strangers.front());
  const std::string first = "rank " + std::to_string(world_ranks_of(user_)[rank]);
  if (census.other_version) {
    refusal_ = versions;
    carried_.clear();
    warn_once(refusal_, ": " + first + " has " + census.other_version->text() + ", rank 0 of the job has " +
                            own.text() + instead);
    return;
  }
  withdraw();
  constexpr unsigned others_wait_s = 1;  // by then the first has ended the job, or it knows nothing and has not spoken
  if (census.first_with_record != rank_) sleep(others_wait_s);
  refusal_ = "a rank runs without the library";
  throw std::runtime_error(
      first +
      " runs without the library: in an all-to-all it has got parameters of other ranks in place of their data. " +
      how_to_preload());
}

bool Communicator::can_be_shared() {
  return met_ && refusal_.empty() && !threaded_ && !some_observed_ && !recorded_ && !options_.check &&
         !hosts_.empty() && find_nodes().empty() && nodes() == 1;
}

void Communicator::use_memory() {
  std::string recalled = std::exchange(recalled_, {}).text;
  recalled.resize(std::exchange(recalled_bytes_, 0));
  const bool had = broadcast(recalled.data(), static_cast<int>(recalled.size()), 0, peers_) == MPI_SUCCESS;
  TextHash hash;
  hash.add(recalled);
  if (!same_everywhere(had ? hash.value() : 0, peers_)) return;
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

/// Not where it would be in the way of the host MPI's progress.
void Communicator::describe_network() {
  if (simulated || nodes() == 1 || options_.trials_share == 0 || options_.algorithm || Coroutine::here()) return;
  if (knowledge_.network.complete() || !has_messages()) return;
  const std::vector<std::int32_t>& nodes = shape_.hierarchy.front();
  const auto other = std::ranges::find_if(nodes, [&](std::int32_t node) { return node != nodes[0]; });
  const MeasuredNetwork network = probe_network(peers_, rank_, static_cast<Rank>(other - nodes.begin()));
  if (!swapmeet::describe_network(network, knowledge_)) return;
  if (options_.explain && rank_ == 0)
    say_once("between nodes: " + to_text(network) + sharing(knowledge_.ranks_per_core));
}

std::string Communicator::find_nodes() {
  if (!shape_.hierarchy.empty()) return "";
  if (!options_.hierarchy) return "SWAPMEET_NODES cannot be used";
  std::optional<Hierarchy> levels;
  if (!options_.nodes.empty()) levels = translated(*options_.hierarchy, user_);
  else if (!hosts_.empty() || gather(host_number(), hosts_, peers_) == MPI_SUCCESS) levels = {nodes_of_hosts(hosts_)};
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
  Neighbours::Joined joined = join_over(share_bytes_, [&](Neighbours* neighbours) {
    if (plans) plan = make_plan(likely, neighbours);
    return plan ? plan->working_blocks() : Neighbours::unprepared;
  });
  neighbours_ = std::move(joined.neighbours);
  means_ = std::move(joined.means);
  if (!neighbours_ || joined.prepared == Neighbours::unprepared) return;
  plan->share_working_blocks(joined.prepared);
  plans_.push_back(std::move(plan));
}

Neighbours::Joined Communicator::join_over(std::int64_t& share_bytes, const Neighbours::Prepare& prepare) {
  Context& all = context();
  const NodeGroup group(peers_, shape_.hierarchy.front());
  std::vector<JoinOffer> offers;
  if (!offers_.empty()) offers = group.of_node(std::exchange(offers_, {}));
  else if (const JoinOffer mine = offer_ ? *offer_ : Neighbours::offer(all.share_bytes, all.arenas);
           group.gather(mine, offers) != MPI_SUCCESS) {
    Neighbours::withdraw(mine, all.arenas);
    return {nullptr, {false, false, "MPI cannot gather the answers of the ranks of a node"}};
  }
  offer_.reset();
  // Ranks on the node, of whatever communicator: no more than this, unless they share cores.
  const auto members = static_cast<std::int64_t>(offers.size());
  Crowd::of_this_process().has_ranks(members);
  const std::int64_t cores = std::ranges::max_element(offers, {}, &JoinOffer::processors)->processors;  // for all alike
  const auto most_members = std::max(members, std::min<std::int64_t>(all.world_ranks, cores));
  Neighbours::Joined joined = Neighbours::join(peers_, group, offers, options_.shm_limit_bytes / most_members,
                                               all.regions, all.arenas, prepare);
  share_bytes = joined.neighbours ? static_cast<std::int64_t>(joined.neighbours->shared_bytes()) / members : 0;
  all.share_bytes += share_bytes;
  return joined;
}

void Communicator::leave() {
  withdraw();
  neighbours_.reset();
  context().share_bytes -= std::exchange(share_bytes_, 0);
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
  const std::size_t memory_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page;
  std::size_t all = 0, first = 0;  // to reserve more than there is would take it from the other processes first
  for (std::size_t i = 0; i < parts.size() && all <= memory_bytes; ++i) {
    if (i == static_cast<std::size_t>(group.me())) first = all;
    all += std::min(parts[i], memory_bytes + 1);
  }
  std::string too_much, problem;
  if (all > memory_bytes)
    too_much = "the ranks of a node ask for more than its " + std::to_string(memory_bytes) + " bytes of memory";
  Segment segment;
  // Other nodes, and other containers of this one, may have enough.
  if (!no_rank_has(too_much, problem, user_) || !group.share(all, first, mine, segment, problem)) {
    warn_once("swapmeet_memory_allocate: " + problem + "; the memory is not shared");
    return nullptr;
  }
  if (!segment.memory()) return nullptr;  // alone on its node
  char* const memory = segment.memory() + first;
  const std::uint64_t id = segment.name().random;
  context().regions.add(id, std::move(segment), memory);
  return memory;
}

}  // namespace swapmeet
