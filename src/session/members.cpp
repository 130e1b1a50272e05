#include "session/members.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "mpi/progress.hpp"
#include "mpi/simulation.hpp"
#include "mpi/world_ranks.hpp"
#include "session/context.hpp"
#include "session/rank_records.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

namespace {

bool some_twice(const std::vector<int>& ranks) {
  const bool ascend = std::ranges::adjacent_find(ranks, std::greater_equal{}) == ranks.end();  // the usual case
  if (ascend) return false;
  std::vector<int> sorted = ranks;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) != sorted.end();
}

/// The part of a hierarchy of MPI_COMM_WORLD that concerns these ranks of it. Nothing if the hierarchy lacks one of
/// them.
std::optional<Hierarchy> translated(const Hierarchy& world_levels, const std::vector<int>& world_ranks) {
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

/// How many different nodes there are.
std::int64_t different(const std::vector<std::int32_t>& nodes) {
  if (std::ranges::adjacent_find(nodes, std::ranges::not_equal_to{}) == nodes.end()) return 1;
  std::vector<std::int32_t> sorted = nodes;
  std::ranges::sort(sorted);
  return std::ranges::unique(sorted).begin() - sorted.begin();
}

}  // namespace

Members::Members(MPI_Comm comm, const Options& given) : process_options_(given) {
  int me = 0, is_inter = 0;
  PMPI_Comm_rank(comm, &me);
  PMPI_Comm_test_inter(comm, &is_inter);
  inter = is_inter != 0;
  shape.ranks = peers_of(comm);
  auto job_ranks = std::make_shared<const std::vector<int>>(world_ranks_of(comm));
  // Each of these refusals is the same on all ranks: every rank sees all ranks of the communicator.
  if (inter) refusal = "intercommunicator";
  else if (std::ranges::count(*job_ranks, MPI_UNDEFINED) > 0)
    refusal = "ranks of several jobs (spawned or connected), not all of which may have the library";
  else if (some_twice(*job_ranks))
    refusal = "threads are ranks here, and messages of the job reach processes";  // MPIX_Threadcomm of MPICH
  Job& job = context().job;
  team = std::make_unique<Team>(job, std::move(job_ranks), me, comm, refusal.empty());
  if (!refusal.empty()) return;
  if (shape.ranks == 1) {
    refusal = "one rank only";
    team->use_common_number();
    return;
  }
  locked = job.made_in_init() ? job.facts().locked : progress_is_locked();
  starts_on_host = !job.made_in_init() || job.facts().starts_on_host;
}

const Options::Gathered& Members::gathered() const {
  return simulated ? options().gathered : context().job.facts().gathered;
}

bool Members::has_algorithm_everywhere() const {
  return was_set ? options().algorithm.has_value() : context().job.facts().algorithm;
}

bool Members::leaves_starts() const {
  const bool native = options().algorithm && options().algorithm->family == Family::native;
  return starts_on_host || native || (!was_set && context().job.facts().native);
}

bool Members::sends_messages(Collective collective, const Spec& spec) const {
  const bool padded = of_unequal_blocks(collective) && spec.sizes == Sizes::padded;
  return spec.intra == Transport::mpi || nodes() > 1 || padded;
}

std::string Members::find_nodes() {
  if (!shape.hierarchy.empty()) return "";
  if (!options().hierarchy) return "SWAPMEET_NODES cannot be used";
  std::optional<Hierarchy> levels;
  if (!options().nodes.empty()) levels = translated(*options().hierarchy, *team->job_ranks());
  else if (!hosts.empty() || allgather(host_number(), hosts, *team) == MPI_SUCCESS) levels = {nodes_of_hosts(hosts)};
  if (!levels) return "the nodes of its ranks cannot be found out";
  shape.hierarchy = *std::move(levels);
  node_count = different(shape.hierarchy.front());
  return "";
}

}  // namespace swapmeet
