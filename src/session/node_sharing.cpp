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

/// The records of the ranks of this node for each of `several` memories. Where MPI has failed on this rank, the others'
/// records leave no shared memory, so that all ranks give it up when they agree. Collective unless the records are
/// known.
std::vector<std::vector<NodeRecord>> NodeSharing::gather(const NodeGroup& group, std::span<Join> several) {
  Context& context = swapmeet::context();
  std::vector<std::vector<NodeRecord>> found(several.size());
  if (!several.front().memory->records_.empty()) {
    for (std::size_t i = 0; i < several.size(); ++i)
      found[i] = group.of_node(std::exchange(several[i].memory->records_, {}));
    return found;
  }
  std::vector<NodeRecord> mine, all(several.size() * static_cast<std::size_t>(group.count()));
  for (const Join& one : several)
    mine.push_back(one.memory->reserved_ ? *one.memory->reserved_
                                         : NodePeers::reserve(context.share_bytes, context.arenas));
  if (group.allgather_bytes(mine.data(), mine.size() * sizeof(NodeRecord), all.data()) != MPI_SUCCESS) {
    std::ranges::fill(all, NodeRecord{.used_bytes = NodeRecord::lost});
    std::ranges::copy(mine, all.begin() + group.me() * std::ssize(mine));
  }
  for (std::size_t i = 0; i < all.size(); ++i) found[i % several.size()].push_back(all[i]);
  return found;
}

void NodeSharing::join(const Members& of, std::span<Join> several) {
  Context& all = context();
  const NodeGroup group(*of.team, of.gathers(), of.shape.hierarchy.front());
  std::vector<std::vector<NodeRecord>> records = gather(group, several);
  for (const Join& one : several) {
    one.memory->joined_ = true;
    one.memory->reserved_.reset();
  }
  const std::int64_t members = group.count();
  Oversubscription::of_this_process().has_ranks(members);
  // the same on all ranks of the node
  const std::int64_t cores = std::ranges::max_element(records.front(), {}, &NodeRecord::processors)->processors;
  // An upper bound of the ranks on the node, over all communicators: no more than cores, unless this communicator has
  // more there. The limit of shared memory is divided by it.
  const auto most_members = std::max(members, std::min<std::int64_t>(all.world_ranks, cores));
  std::vector<NodePeers::Joining> joining;
  for (std::size_t i = 0; i < several.size(); ++i)
    joining.push_back({std::move(records[i]), of.options().shm_limit_bytes / most_members / several[i].memory->part_,
                       several[i].prepare});
  NodePeers::join(*of.team, group, joining, all.regions, all.arenas);
  for (std::size_t i = 0; i < several.size(); ++i) {
    NodeSharing& memory = *several[i].memory;
    memory.peers_ = std::move(joining[i].node_peers);
    memory.means_ = std::move(joining[i].means);
    if (!memory.peers_) continue;
    memory.share_bytes_ = static_cast<std::int64_t>(memory.peers_->shared_bytes()) / members;
    all.share_bytes += memory.share_bytes_;
    several[i].prepared = joining[i].prepared;
  }
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
