#include "session/node_sharing.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "node/node_group.hpp"
#include "node/oversubscription.hpp"
#include "session/context.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

const NodeRecord& NodeSharing::reserve() {
  return reserved_.emplace(NodePeers::reserve(context().share_bytes, context().arenas));
}

void NodeSharing::give_back_reserved() {
  if (reserved_) NodePeers::give_back(*reserved_, context().arenas);
  reserved_.reset();
  records_.clear();
}

std::int64_t NodeSharing::join(const NodePeers::Prepare& prepare) {
  if (joined_) return NodePeers::unprepared;
  joined_ = true;
  const auto now = observer_.doing(Doing::sharing_memory);
  NodePeers::Joined joined = join_for_plan(share_bytes_, prepare);
  peers_ = std::move(joined.node_peers);
  means_ = std::move(joined.means);
  return peers_ ? joined.prepared : NodePeers::unprepared;
}

NodePeers::Joined NodeSharing::join_for_plan(std::int64_t& share_bytes, const NodePeers::Prepare& prepare) {
  Context& all = context();
  const NodeGroup group(members_.peers, members_.shape.hierarchy.front());
  std::vector<NodeRecord> node_records;
  if (!records_.empty()) node_records = group.of_node(std::exchange(records_, {}));
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
  NodePeers::Joined joined =
      NodePeers::join(members_.peers, group, node_records, members_.options().shm_limit_bytes / most_members,
                      all.regions, all.arenas, prepare);
  share_bytes = joined.node_peers ? static_cast<std::int64_t>(joined.node_peers->shared_bytes()) / members : 0;
  all.share_bytes += share_bytes;
  return joined;
}

bool NodeSharing::lost_a_rank() const { return peers_ && peers_->broken() == rank_died(); }

void NodeSharing::end() {
  if (peers_) peers_->end();
}

void NodeSharing::leave() {
  give_back_reserved();
  peers_.reset();
  context().share_bytes -= std::exchange(share_bytes_, 0);
}

int NodeSharing::allocate(std::int64_t bytes, char*& memory) {
  if (members_.inter) return MPI_ERR_COMM;
  memory = !simulated && members_.refusal.empty() && members_.find_nodes().empty() ? allocate_shared(bytes) : nullptr;
  if (memory) return MPI_SUCCESS;
  Segment segment;
  if (!segment.make_private(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))).empty()) return MPI_ERR_NO_MEM;
  memory = segment.memory();
  context().regions.add(0, std::move(segment), memory);
  return MPI_SUCCESS;
}

/// Collective. All ranks of all nodes agree whether the memory is shared.
char* NodeSharing::allocate_shared(std::int64_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const NodeGroup group(members_.user, members_.shape.hierarchy.front());
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
  if (!no_rank_has(too_much, problem, members_.user) || !group.share(all, first, mine, segment, problem)) {
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
