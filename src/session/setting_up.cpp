/// Member functions of Communicator that set it up before it exchanges: records, remembered measurements, nodes, shared
/// memory, network.
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
#include "session/rank_records.hpp"
#include "session/disagreement.hpp"
#include "session/context.hpp"
#include "session/probe.hpp"
#include "buffers/device.hpp"
#include "node/oversubscription.hpp"
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
    "all ranks have called MPI_Session_init: the communicator may be a session's, and outlive MPI_Finalize";

/// The part of a hierarchy of MPI_COMM_WORLD that concerns the ranks of `comm`. Nothing if the hierarchy lacks one of
/// them.
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

/// Returns a scope that watches the next wait for all ranks of `comm`, which ranks without the library would never
/// join. Does not wait itself: local. The limit is that of the watchdog, if it is shorter than usual.
SlowWait watch_for_absent_ranks(MPI_Comm comm) {
  return {comm, "the first all-to-all of a communicator", patience_s()};
}

/// A text such as "; 8 ranks share a core". `ranks_per_core`: the largest value of any kernel (rank_records.hpp). "" if
/// each rank has a core.
std::string sharing(double ranks_per_core) {
  return ranks_per_core > 1 ? "; " + short_text(ranks_per_core, 3) + " ranks share a core" : "";
}

}  // namespace

/// Collective; waits.
void Communicator::finish_setting_up() {
  if (records_known_) return;
  gathered_.empty() ? exchange_records() : end_record_exchange();
  if (!refusal_.empty()) trace_nothing();
  if (options_.recording()) record(context().recorder);
}

/// The blocks of `first` if they are small and contiguous, to be sent with the records; else nothing. Local.
std::vector<char> Communicator::blocks_to_piggyback(const FirstCall& first) {
  constexpr std::int64_t most_bytes = sizeof RankRecord::block;
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

/// Collective; waits.
void Communicator::exchange_records(const FirstCall* first) {
  records_known_ = true;
  setup_policy_.setup_begins();
  const auto now = doing(Doing::meeting);
  mine_ = make_record();
  if (first) piggybacked_ = blocks_to_piggyback(*first);
  GatheredRecords records = [&] {
    const SlowWait watched = watch_for_absent_ranks(user_);
    return gather_records(mine_, gathered(), user_, piggybacked_);
  }();
  make_job(records);
  apply_records(std::move(records));
}

/// Starts an MPI_Iallgather in the order of collectives, but does not wait for other ranks.
int Communicator::begin_record_exchange() {
  // Here, and not when the records have arrived, because they arrive at different times: all ranks must stop leaving
  // calls to the host MPI at the same call.
  setup_policy_.setup_begins();
  mine_ = make_record();
  const int error = begin_gathering_records(mine_, gathered_, user_, arrival_);
  if (error) gathered_.clear();
  return error;
}

/// Waits for the records of all ranks. Unlike exchange_records() it does not call make_job(): started() begins this
/// exchange only where the communicator of the job exists.
void Communicator::end_record_exchange() {
  records_known_ = true;
  const int error = [&] {
    const SlowWait watched = watch_for_absent_ranks(user_);
    return arrival_ == MPI_REQUEST_NULL ? MPI_SUCCESS : finish_suspended(arrival_);
  }();
  GatheredRecords records;
  if (error) records.fault = is_fault(error);
  else records = read_records(mine_, gathered_);
  gathered_ = {};
  apply_records(std::move(records));
}

/// Makes the record that this rank sends, and reserves its part of shared memory. Local.
RankRecord Communicator::make_record() {
  if (rank_ == 0) number_ = context().number_of_communicator();
  const std::uint64_t device = options_.devices_through_host ? 0 : device_in_use();
  reserved_ = NodePeers::reserve(context().share_bytes, context().arenas);
  guarded([&] {  // the other ranks wait for the record, so lack of memory must not end this
    if (rank_ == 0 && !options_.algorithm) recalled_ = context().memory.recall(shape_.ranks);
    warn_of_memory_store();
    return MPI_SUCCESS;
  });
  RankRecord mine{{},
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
  mine.node_record = *reserved_;
  mine.team = team_->number();
  mine.job = context().job.exists();
  return mine;
}

/// Collective if a communicator of the job is made; else local. The job has no communicator yet if the library was
/// loaded after MPI_Init.
void Communicator::make_job(const GatheredRecords& records) {
  if (records.job || records.fault || shape_.ranks != context().world_ranks) return;
  context().job.begin(patience_s());
  JobFacts mine = facts_of(context().options);
  mine.locked = records.locked;
  mine.threaded = records.threaded;
  context().job.agree(mine, context().fingerprint);
  auto numbered = std::make_unique<Team>(context().job, team_->job_ranks(), rank_, user_);
  if (numbered->exchange_numbers(user_) != MPI_SUCCESS) return;
  team_ = std::move(numbered);
  peers_.team = team_.get();
}

/// Applies the result of the exchange of records. Collective: the ranks exchange the numbers of their teams if the
/// records lack them, and look for the difference if their options differ; otherwise it does not communicate.
void Communicator::apply_records(GatheredRecords records) {
  number_ = records.number;
  refuse_strangers(records);
  if (!refusal_.empty()) return;
  const bool all_answered = records.agreed || !records.node_records.empty();
  if (all_answered && shape_.ranks == context().world_ranks) SlowWait::all_ranks_came();
  if (!records.teams.empty() && records.job) team_->set_numbers(records.teams);
  else if (records.team_everywhere >= 0) team_->set_common_number(records.team_everywhere);
  else if (records.job && records.teams.empty() && !records.fault) team_->exchange_numbers(user_);
  locked_ |= records.locked;
  threaded_ = records.threaded;
  starts_on_host_ |= records.starts_on_host;
  some_observed_ = records.observed;
  hosts_ = std::move(records.hosts);
  node_records_ = std::move(records.node_records);
  knowledge_.ranks_per_core = records.ranks_per_core;
  Oversubscription::of_this_process().has_ranks(records.ranks_here);
  if (post()) register_processes_with_watchdog();
  if (records.device > 0) leave_devices_alone(device_name(records.device));
  recalled_many_ = records.many;
  if (records.agreed) recalled_bytes_ = std::min<std::size_t>(records.recalled, MemoryStore::most_recalled_bytes);
  if (records.agreed && records.sessions && user_ != MPI_COMM_WORLD) refusal_ = of_session;
  if (records.agreed) return;
  if (records.fault) {
    refusal_ = "a rank has died";
    return;
  }
  refusal_ = "the ranks disagree on the SWAPMEET_ variables";
  if (Coroutine::here() && !has_messages()) return;  // further agreements would need messages
  warn_once(refusal_, disagreement(options_, peers_) +
                          "; using the host MPI. Give every rank the same environment, and the same tuning file.");
  print_problems(options_, peers_);
}

/// Handles ranks that sent no record, or records of another version. If a rank has sent no record, the call ends with
/// an error: that rank's all-to-all, and perhaps that of other ranks, has received records in place of data. If
/// versions differ, calls are left to the host MPI. Local.
void Communicator::refuse_strangers(const GatheredRecords& records) {
  constexpr const char* versions = "ranks have different versions of the library";
  constexpr const char* instead = "; using the host MPI. Preload the same file in all ranks";
  if (!records.same_version) {
    refusal_ = versions;
    warn_once(refusal_, instead);
  }
  if (records.strangers.empty()) return;
  const RankRecord::Version own;
  const auto rank = static_cast<std::size_t>(records.strangers.front());
  const std::string first = "rank " + std::to_string(world_ranks_of(user_)[rank]);
  if (records.other_version) {
    refusal_ = versions;
    piggybacked_.clear();
    warn_once(refusal_, ": " + first + " has " + records.other_version->text() + ", rank 0 of the job has " +
                            own.text() + instead);
    return;
  }
  give_back_reserved();
  // The first rank with a record throws at once, which normally ends the job. The others wait before they throw, so
  // that only one reports.
  constexpr unsigned others_wait_s = 1;
  if (records.first_with_record != rank_) sleep(others_wait_s);
  refusal_ = "a rank runs without the library";
  throw std::runtime_error(
      first +
      " runs without the library: in an all-to-all it has got parameters of other ranks in place of their data. " +
      how_to_preload());
}

/// Local: find_nodes() needs no other rank, because the hosts are known.
bool Communicator::can_serve_duplicates() {
  return records_known_ && refusal_.empty() && !threaded_ && !some_observed_ && !recorded_ && !options_.check &&
         !hosts_.empty() && find_nodes().empty() && nodes() == 1;
}

/// Collective. Rank 0 sends the measurements of earlier runs; all ranks use them if all have received the same.
void Communicator::use_recalled() {
  std::string recalled = std::exchange(recalled_, {}).text;
  recalled.resize(std::exchange(recalled_bytes_, 0));
  const bool had = broadcast(recalled.data(), static_cast<int>(recalled.size()), 0, peers_) == MPI_SUCCESS;
  TextHash hash;
  hash.add(recalled);
  if (!same_everywhere(had ? hash.value() : 0, peers_)) return;
  for (Evidence& one : usable(parse_recalled(recalled))) knowledge_.evidence.push_back(std::move(one));
}

/// Returns this rank's reserved part of shared memory, which was not used, and drops the records for joining. Local.
void Communicator::give_back_reserved() {
  if (reserved_) NodePeers::give_back(*reserved_, context().arenas);
  reserved_.reset();
  node_records_.clear();
}

void Communicator::leave_devices_alone(std::string_view driver) {
  device_ = "a rank uses " + std::string(driver) + ", so buffers may be memory of its device";
  if (options_.algorithm && options_.algorithm->family != Family::native)
    warn_once(device_ + "; using the host MPI on such communicators. SWAPMEET_DEVICE=host: use " +
              options_.algorithm_from + " there too, and bring such buffers to the host.");
}

/// Measures the network between nodes, unless it is known, is not needed, or cannot be measured here. In a coroutine it
/// is not measured, because that would delay the host MPI's progress. Collective.
void Communicator::measure_network() {
  if (simulated || nodes() == 1 || options_.trials_share == 0 || options_.algorithm || Coroutine::here()) return;
  if (knowledge_.network.complete() || !has_messages()) return;
  const std::vector<std::int32_t>& nodes = shape_.hierarchy.front();
  const auto other = std::ranges::find_if(nodes, [&](std::int32_t node) { return node != nodes[0]; });
  const MeasuredNetwork network = probe_network(peers_, rank_, static_cast<Rank>(other - nodes.begin()));
  if (!swapmeet::describe_network(network, knowledge_)) return;
  if (options_.explain && rank_ == 0)
    say_once("between nodes: " + to_text(network) + sharing(knowledge_.ranks_per_core));
}

/// Collective if the hosts of the ranks must be gathered: the records lack them, and SWAPMEET_NODES is not set.
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

/// Collective on the first call.
void Communicator::join(const Spec& likely) {
  if (joined_) return;
  joined_ = true;
  const auto now = doing(Doing::joining);
  std::unique_ptr<Plan> plan;
  const bool plans = likely.family != Family::native && !needs_sizes(likely) && likely.order != Order::topology;
  NodePeers::Joined joined = join_over(share_bytes_, [&](NodePeers* node_peers) {
    if (plans) plan = make_plan(likely, node_peers);
    return plan ? plan->working_blocks() : NodePeers::unprepared;
  });
  node_peers_ = std::move(joined.node_peers);
  means_ = std::move(joined.means);
  if (!node_peers_ || joined.prepared == NodePeers::unprepared) return;
  plan->share_working_blocks(joined.prepared);
  plans_.push_back(std::move(plan));
}

/// Collective.
NodePeers::Joined Communicator::join_over(std::int64_t& share_bytes, const NodePeers::Prepare& prepare) {
  Context& all = context();
  const NodeGroup group(peers_, shape_.hierarchy.front());
  std::vector<NodeRecord> node_records;
  if (!node_records_.empty()) node_records = group.of_node(std::exchange(node_records_, {}));
  else if (const NodeRecord mine = reserved_ ? *reserved_ : NodePeers::reserve(all.share_bytes, all.arenas);
           group.gather(mine, node_records) != MPI_SUCCESS) {
    NodePeers::give_back(mine, all.arenas);
    return {nullptr, {false, false, "MPI cannot gather the answers of the ranks of a node"}};
  }
  reserved_.reset();
  const auto members = static_cast<std::int64_t>(node_records.size());
  Oversubscription::of_this_process().has_ranks(members);
  // the same on all ranks of the node
  const std::int64_t cores = std::ranges::max_element(node_records, {}, &NodeRecord::processors)->processors;
  // An upper bound of the ranks on the node, over all communicators: no more than cores, unless this communicator has
  // more there. The limit of shared memory is divided by it.
  const auto most_members = std::max(members, std::min<std::int64_t>(all.world_ranks, cores));
  NodePeers::Joined joined = NodePeers::join(peers_, group, node_records, options_.shm_limit_bytes / most_members,
                                             all.regions, all.arenas, prepare);
  share_bytes = joined.node_peers ? static_cast<std::int64_t>(joined.node_peers->shared_bytes()) / members : 0;
  all.share_bytes += share_bytes;
  return joined;
}

void Communicator::leave() {
  give_back_reserved();
  node_peers_.reset();
  context().share_bytes -= std::exchange(share_bytes_, 0);
}

/// Collective.
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

/// Collective. All ranks of all nodes agree whether the memory is shared.
char* Communicator::allocate_shared(std::int64_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const NodeGroup group(user_, shape_.hierarchy.front());
  const std::size_t mine = (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + page - 1) / page * page;
  std::vector<std::size_t> parts;
  if (group.gather(mine, parts) != MPI_SUCCESS) return nullptr;
  const std::size_t memory_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page;
  // More than the memory of the node is not even requested: the request would fail only after it had used up the memory
  // that other processes need.
  std::size_t all = 0, first = 0;
  for (std::size_t i = 0; i < parts.size() && all <= memory_bytes; ++i) {
    if (i == static_cast<std::size_t>(group.me())) first = all;
    all += std::min(parts[i], memory_bytes + 1);
  }
  std::string too_much, problem;
  if (all > memory_bytes)
    too_much = "the ranks of a node ask for more than its " + std::to_string(memory_bytes) + " bytes of memory";
  Segment segment;
  // All ranks of all nodes must agree, because group.share() is collective over the communicator: other nodes, and
  // other containers of this node, may have enough memory.
  if (!no_rank_has(too_much, problem, user_) || !group.share(all, first, mine, segment, problem)) {
    warn_once("swapmeet_memory_allocate: " + problem + "; the memory is not shared");
    return nullptr;
  }
  if (!segment.memory()) return nullptr;  // this rank is alone on its node
  char* const memory = segment.memory() + first;
  const std::uint64_t id = segment.name().random;
  context().regions.add(id, std::move(segment), memory);
  return memory;
}

}  // namespace swapmeet
