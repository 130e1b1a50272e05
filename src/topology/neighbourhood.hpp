/// The neighbours of one rank in a virtual topology of MPI: the ranks to which it sends blocks, the ranks from which it
/// receives blocks, and which sent block corresponds to which received block.
///
/// Source: MPI-4.1, 8.6 "Neighborhood Collective Communication on Process Topologies"; Example 8.10 for grids
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// Stands for a missing neighbour (MPI_PROC_NULL), whose block is neither sent nor received.
inline constexpr Rank nobody = -1;

struct Neighbourhood {
  Rank ranks = 1, rank = 0;
  std::vector<Rank> to, from;  ///< neighbours by number of the block sent or received
  /// Whether the topology is Cartesian. Blocks 2d and 2d+1 then go to the neighbours in dimension d, in the negative
  /// direction first. A block sent in one direction arrives from the other, even if both neighbours are the same rank.
  bool grid = false;

  Degrees degrees() const { return {static_cast<std::int32_t>(to.size()), static_cast<std::int32_t>(from.size())}; }
};

/// A block sent to or received from a peer.
struct Edge {
  Rank peer = 0;
  std::int32_t block = 0;
  /// Distinguishes the edges from one rank to another; both ends of an edge know its number. On a grid it is the number
  /// of the sent block. Otherwise it is the number of earlier edges between the two ranks in the lists.
  std::int32_t number = 0;
};

/// The neighbourhoods of all ranks of a node, after these ranks have exchanged them.
struct NodeNeighbourhoods {
  Shape shape{};
  std::vector<Neighbourhood> node{};  ///< of the ranks of the node, in rank order

  const Neighbourhood& of(Rank rank) const;  ///< neighbourhood of a rank of the node
};

/// A block that a rank sends to itself: its number in the send buffer and in the receive buffer.
struct OwnBlock {
  std::int32_t from = 0, to = 0;
};
std::vector<OwnBlock> own_blocks(const Neighbourhood& neighbourhood);

/// Return the edges in the order of blocks. Missing neighbours are left out; edges to the rank itself are included.
/// O(blocks).
std::vector<Edge> edges_out(const Neighbourhood& neighbourhood);
std::vector<Edge> edges_in(const Neighbourhood& neighbourhood);

}  // namespace swapmeet
