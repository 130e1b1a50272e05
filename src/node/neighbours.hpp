/// The ranks of a communicator that share a node with this one, and the memory that they share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "mpi/simulation.hpp"
#include "schedule/spec.hpp"
#include "choose/means.hpp"
#include "node/node.hpp"

namespace swapmeet {

/// Which messages a transport offers for a single copy.
constexpr SingleCopy single_copy(Transport transport) {
  switch (transport) {
    case Transport::cma: return {0, 0};
    case Transport::automatic: return {16 << 10, 4 << 10};  // docs/measurements/node.md
    default: return {};
  }
}

class Neighbours {
 public:
  /// Joins the ranks of each node of `comm` in a segment of at most `share_bytes` for each of them (the least that one
  /// says). `nodes`: the node of each rank. Collective. nullptr on all ranks if a rank of any node cannot; `means` says
  /// why. `regions`: as of Node.
  static std::unique_ptr<Neighbours> join(MPI_Comm comm, const std::vector<std::int32_t>& nodes,
                                          std::int64_t share_bytes, const Regions& regions, Means& means);

  Neighbours(Node node, std::vector<std::int32_t> members, MPI_Comm comm)
      : node_(std::move(node)), members_(std::move(members)), comm_(comm) {}

  /// The way to `rank`; nullptr: it is on another node.
  NodeLink* link(Rank rank) {
    const std::int32_t member = members_[static_cast<std::size_t>(rank)];
    return member < 0 ? nullptr : &node_.link(static_cast<std::uint32_t>(member));
  }

  bool advance(Transfer& transfer) { return node_.advance(transfer); }
  bool send_now(NodeLink& link, const Piece& piece, std::uint16_t call) { return node_.send_now(link, piece, call); }

  /// Says where this rank is, for those that wait for it.
  void here() { node_.waiter().here(); }

  /// At the end of each turn of a loop that waits: lets MPI go on now and then; waits a little, if nothing has `moved`.
  /// `anyone`: as of Waiter.
  void turn(bool moved, bool anyone) {
    if constexpr (simulated) return pass_time(moved);
    node_.waiter().turn(moved, anyone, [this] {
      node_.look_whether_broken();
      int flag = 0;
      PMPI_Iprobe(MPI_ANY_SOURCE, unused_tag, comm_, &flag, MPI_STATUS_IGNORE);
    });
  }

  /// After an error in the middle of an exchange. If anything was sent (`touched`), nothing can be exchanged here any
  /// more.
  void abandon(bool touched) { touched ? node_.abandon() : node_.forget(); }
  bool broken() const { return node_.broken(); }

  std::size_t shared_bytes() const { return node_.shared_bytes(); }

 private:
  static constexpr int unused_tag = 0;
  Node node_;
  std::vector<std::int32_t> members_;  ///< number within the node of each rank of the communicator, or -1
  MPI_Comm comm_;
};

}  // namespace swapmeet
