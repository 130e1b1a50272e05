/// The sparse exchanges of one communicator (swapmeet_sparse_alltoallv).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "buffers/blocks.hpp"
#include "choose/sparse.hpp"
#include "session/members.hpp"
#include "sparse/arrivals.hpp"
#include "sparse/fabric.hpp"
#include "sparse/route.hpp"

namespace swapmeet {

/// The algorithm of sparse exchanges. The first exchange prepares it, and the first after swapmeet_set_algorithm()
/// prepares it anew.
struct SparsePlan {
  SparseChoice choice;
  std::vector<int> counts;           ///< for Sparse::census: working memory for one count of each rank, and the result
  std::optional<SparseRoute> route;  ///< route of forwarded messages; nothing: messages are sent directly
};

/// The messages that a rank sends in one exchange.
struct SparseRequest {
  std::span<const SparseSend> sends;
  const Blocks& blocks;
};

class SparseExchanges {
 public:
  explicit SparseExchanges(Members& members) : members_(members) {}

  /// Sends the messages of `request`, and receives the messages for this rank in any order of their sources. Received
  /// messages are delivered even if others were lost, which is an error. Collective; waits. Returns an MPI error code.
  int exchange(const SparseRequest& request, Arrivals& arrivals);

  /// Lets the next exchange choose its algorithm anew. Local.
  void clear() { plan_.reset(); }

 private:
  int prepare();
  std::size_t counts_of_census() const { return static_cast<std::size_t>(members_.ranks()) + 1; }

  Members& members_;
  std::unique_ptr<SparsePlan> plan_;
  std::uint16_t calls_ = 0;  ///< number of exchanges so far
};

}  // namespace swapmeet
