#include "session/node_sharing.hpp"

#include <algorithm>
#include <utility>

#include "node/node_group.hpp"
#include "node/oversubscription.hpp"
#include "session/context.hpp"

namespace swapmeet {

const NodeRecord& NodeSharing::reserve() {
  return reserved_.emplace(NodePeers::reserve(context().share_bytes, context().arenas));
}

void NodeSharing::give_back_reserved() {
  if (reserved_) NodePeers::give_back(*reserved_, context().arenas);
  reserved_.reset();
  records_.clear();
}

/// The records of the ranks of this node. Where MPI has failed on this rank, the others' records leave no shared memory,
/// so that all ranks give it up when they agree. Collective unless the records are known.
std::vector<NodeRecord> NodeSharing::gather(const NodeGroup& group) {
  if (!records_.empty()) return group.of_node(std::exchange(records_, {}));
  const NodeRecord mine = reserved_ ? *reserved_ : NodePeers::reserve(context().share_bytes, context().arenas);
  std::vector<NodeRecord> all;
  if (group.allgather(mine, all) == MPI_SUCCESS) return all;
  std::ranges::fill(all, NodeRecord{.used_bytes = NodeRecord::lost});
  all[static_cast<std::size_t>(group.me())] = mine;
  return all;
}

std::int64_t NodeSharing::join(const Members& of, const NodePeers::Prepare& prepare) {
  Context& all = context();
  const NodeGroup group(*of.team, of.gathers(), of.shape.hierarchy.front());
  const std::vector<NodeRecord> records = gather(group);
  joined_ = true;
  reserved_.reset();
  const std::int64_t members = group.count();
  Oversubscription::of_this_process().has_ranks(members);
  // the same on all ranks of the node
  const std::int64_t cores = std::ranges::max_element(records, {}, &NodeRecord::processors)->processors;
  // An upper bound of the ranks on the node, over all communicators: no more than cores, unless this communicator has
  // more there. The limit of shared memory is divided by it.
  const auto most_members = std::max(members, std::min<std::int64_t>(all.world_ranks, cores));
  NodePeers::Joined joined = NodePeers::join(
      *of.team, group, records, of.options().shm_limit_bytes / most_members / part_, all.regions, all.arenas, prepare);
  peers_ = std::move(joined.node_peers);
  means_ = std::move(joined.means);
  if (!peers_) return NodePeers::unprepared;
  share_bytes_ = static_cast<std::int64_t>(peers_->shared_bytes()) / members;
  all.share_bytes += share_bytes_;
  return joined.prepared;
}

bool NodeSharing::lost_a_rank() const { return peers_ && peers_->broken() == fault_error(); }

void NodeSharing::end() {
  if (peers_) peers_->end();
}

void NodeSharing::leave() {
  give_back_reserved();
  peers_.reset();
  context().share_bytes -= std::exchange(share_bytes_, 0);
}

}  // namespace swapmeet
