/// The ranks of a communicator that share a node with this one, while they set up something together.
#pragma once

#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "node/segment.hpp"

namespace swapmeet {

class NodeGroup {
 public:
  /// `nodes`: the node of each rank of `comm`. Collective.
  NodeGroup(MPI_Comm comm, const std::vector<std::int32_t>& nodes);
  ~NodeGroup();
  NodeGroup(const NodeGroup&) = delete;
  NodeGroup& operator=(const NodeGroup&) = delete;

  /// Whether comm() could be made, on all ranks; there may be no communicator left.
  bool made() const { return made_; }

  /// Of the node.
  MPI_Comm comm() const { return node_; }
  std::int32_t count() const { return count_; }
  std::int32_t me() const { return members_[static_cast<std::size_t>(rank_)]; }

  /// The number within the node of each rank of the communicator; -1: it is on another.
  const std::vector<std::int32_t>& members() const { return members_; }

  /// Whether no rank of the whole communicator has a `problem`; if one has, the first one's is told in `first`.
  /// Collective.
  bool agreed(const std::string& problem, std::string& first) const;

  /// Makes shared memory of `bytes` bytes (the same on all ranks of the node), of which this rank reserves `mine` from
  /// `first` on. Collective. Requires made(). False, on all ranks of all nodes: one could not.
  bool share(std::size_t bytes, std::size_t first, std::size_t mine, Segment& segment, std::string& problem) const;

 private:
  /// Makes or opens the segment of the node. Collective over the node. "", or what went wrong on this rank.
  std::string open(std::size_t bytes, Segment::Naming naming, Segment& segment) const;

  MPI_Comm comm_, node_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 0;
  bool made_ = false;
  std::vector<std::int32_t> members_;
  std::int32_t count_ = 0;
};

}  // namespace swapmeet
