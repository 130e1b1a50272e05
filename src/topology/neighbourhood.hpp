/// The neighbours of one rank in a virtual topology of MPI: to whom it sends its blocks, from whom it receives, and which
/// block of one becomes which of the other.
///
/// Source: MPI-4.1, 8.6 "Neighborhood Collective Communication on Process Topologies"; Example 8.10 for grids
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// In the place of a neighbour: there is none (MPI_PROC_NULL), and the block is neither sent nor received.
inline constexpr Rank nobody = -1;

struct Neighbourhood {
  Rank ranks = 1, rank = 0;
  std::vector<Rank> to, from;  ///< by the numbers of the blocks that are sent and received
  /// Cartesian: blocks 2d and 2d+1 go to the neighbours in dimension d, in the negative direction first. What is sent in one
  /// direction comes from the other, also where both neighbours are the same rank.
  bool grid = false;

  Degrees degrees() const { return {static_cast<std::int32_t>(to.size()), static_cast<std::int32_t>(from.size())}; }
};

/// A block that is sent to a peer, or received from it.
struct Edge {
  Rank peer = 0;
  std::int32_t block = 0;
  /// Of the edges from one rank to another no two have the same, and both ends of an edge know it: on a grid the number of
  /// the block that is sent; else how many edges between the two ranks are before it in the lists.
  std::int32_t number = 0;
};

/// What a rank knows where the ranks of a node have told one another of their neighbours.
struct NodeNeighbourhoods {
  Shape shape{};
  std::vector<Neighbourhood> node{};  ///< of the ranks of its node, in the order of ranks

  const Neighbourhood& of(Rank rank) const;  ///< of a rank of the node
};

/// A block that a rank has for itself: where it is sent from, and where it ends.
struct OwnBlock {
  std::int32_t from = 0, to = 0;
};
std::vector<OwnBlock> own_blocks(const Neighbourhood& neighbourhood);

/// In the order of blocks, without those of nobody; edges to itself included. O(blocks).
std::vector<Edge> edges_out(const Neighbourhood& neighbourhood);
std::vector<Edge> edges_in(const Neighbourhood& neighbourhood);

}  // namespace swapmeet
