/// The means by which messages within the node are transferred.
#pragma once

#include "node/node_peers.hpp"

namespace swapmeet {

struct NodeTransport {
  NodePeers* peers = nullptr;  ///< nullptr: messages within the node go by MPI as all others
  SingleCopy single_copy{};
  /// Whether small blocks are written into rows. Then in each exchange every rank of the node sends to every other, and
  /// the exchange has one round, window=all (algorithms/generate.cpp).
  bool by_rows = false;
};

}  // namespace swapmeet
