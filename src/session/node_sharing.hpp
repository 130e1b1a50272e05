/// The shared memory of the ranks of a node, for exchanges of one communicator of which one is under way at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "choose/means.hpp"
#include "node/node_peers.hpp"
#include "session/members.hpp"

namespace swapmeet {

class NodeSharing {
 public:
  /// Joins only if there is room within one `part`-th of SWAPMEET_SHM_LIMIT.
  explicit NodeSharing(int part = 1) : part_(part) {}
  ~NodeSharing() { leave(); }
  NodeSharing(const NodeSharing&) = delete;
  NodeSharing& operator=(const NodeSharing&) = delete;

  /// Reserves this rank's part of shared memory, and returns the record by which the ranks of the node find it. Local.
  const NodeRecord& reserve();
  /// The records of all ranks, for the next time that the ranks of nodes join.
  std::vector<NodeRecord>& records() { return records_; }
  /// Returns the reserved part if it was not used, and drops the records. Local.
  void give_back_reserved();

  /// Joins the ranks of each node of `members`, which have not joined here; `prepare` is as in NodePeers::join(). Returns
  /// what it has prepared on all ranks, or NodePeers::unprepared. Requires that the nodes are known. Collective.
  std::int64_t join(const Members& members, const NodePeers::Prepare& prepare);
  /// Whether the ranks have joined, or have failed to.
  bool joined() const { return joined_; }
  /// The means within nodes: those found by join(); before that, both are assumed to be there.
  const Means& means() const { return means_; }
  /// The node peers; nullptr if the ranks of this node have not joined.
  NodePeers* peers() const { return peers_.get(); }

  /// Whether waiting for node peers has ended because one has died.
  bool lost_a_rank() const;
  /// Ends all waiting for node peers. Local.
  void end();
  /// Frees the shared memory. Local.
  void leave();

 private:
  std::vector<NodeRecord> gather(const NodeGroup& group);

  const int part_;
  std::optional<NodeRecord> reserved_;  ///< this rank's reserved part of shared memory
  std::vector<NodeRecord> records_;
  bool joined_ = false;
  Means means_{true, true};
  std::int64_t share_bytes_ = 0;  ///< this rank's share of the shared memory
  std::unique_ptr<NodePeers> peers_;
};

}  // namespace swapmeet
