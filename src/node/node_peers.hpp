/// The ranks of a communicator that share a node with this rank, and their shared memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/faults.hpp"
#include "mpi/mpi.hpp"
#include "mpi/progress.hpp"
#include "mpi/simulation.hpp"
#include "schedule/spec.hpp"
#include "choose/means.hpp"
#include "node/arenas.hpp"
#include "node/node.hpp"
#include "node/node_group.hpp"

namespace swapmeet {

/// The sizes from which on a transport announces messages for a single copy.
constexpr SingleCopy single_copy(Transport transport) {
  switch (transport) {
    case Transport::cma: return {0, 0};
    case Transport::automatic:
    case Transport::rows: return {16 << 10, 4 << 10};  // docs/measurements/node.md
    default: return {};
  }
}

/// The record of a rank in the exchange of parameters before the ranks of each node set up shared memory. Can be sent
/// as bytes.
struct NodeRecord {
  ArenaPart part{};  ///< a part of the arena of this process, used if it is the first rank of its node
  /// Shared memory that already counts towards the limit of this rank; `lost` for a rank whose record did not arrive.
  std::int64_t used_bytes = 0;
  std::int64_t process = 0;
  std::uint64_t address = 0, value = 0;  ///< an address in this process and the value there, which identify the process
  std::uint64_t process_namespace = 0;   ///< PID namespace in which `process` is valid; 0: not known
  std::int64_t processors = 0;  ///< number of processors that the process sees; it may differ between containers
  static constexpr std::int64_t lost = INT64_MAX;
};

/// The data at NodeRecord::address.
struct ProcessIdentity {
  std::uint64_t value;  ///< identifies the process
  std::uint64_t board;  ///< address of its call states, for watchdogs of other ranks (observe/call_state.hpp); 0: none
};

class NodePeers {
 public:
  /// Sets the data that this process publishes for other processes.
  static void publish(const void* board);

  /// The record of this process. Takes a part of the arena until give_back(), or until the ranks have set up shared
  /// memory. Local.
  static NodeRecord reserve(std::int64_t used_bytes, Arenas& arenas);
  /// Frees the part of the arena. (After a fault, another rank may have set up this part nonetheless; then it is never
  /// used again.)
  static void give_back(const NodeRecord& record, Arenas& arenas) {
    if (!had_fault()) arenas.give_back(record.part);
  }

  /// A further action on each rank before the ranks agree. It returns a number, of which the maximum is taken, or
  /// `unprepared`.
  using Prepare = std::function<std::int64_t(NodePeers*)>;
  static constexpr std::int64_t unprepared = INT64_MAX;

  struct Joined;
  /// Sets up the shared memory of the ranks of each node. It takes at most half of what is left of `most_bytes` for each
  /// rank. `records`: those of the ranks of this node, including this rank. Collective over `everyone`, the ranks of the
  /// communicator. `regions`: as for a Node.
  static Joined join(Team& everyone, const NodeGroup& group, std::span<const NodeRecord> records,
                     std::int64_t most_bytes, Regions& regions, Arenas& arenas, const Prepare& prepare);

  /// `processes`: see Node::watch().
  NodePeers(Node node, std::vector<std::int32_t> members, std::vector<pid_t> processes)
      : node_(std::move(node)), members_(std::move(members)) {
    node_.watch(std::move(processes));
  }

  /// The link to `rank`; nullptr if it is on another node.
  NodeLink* link(Rank rank) {
    const std::int32_t member = members_[static_cast<std::size_t>(rank)];
    return member < 0 ? nullptr : &node_.link(static_cast<std::uint32_t>(member));
  }

  Node& node() { return node_; }

  /// Ends each iteration of a waiting loop. Lets MPI make progress now and then. Waits a little if nothing has `moved`.
  /// `anyone`: see Waiter::turn().
  void turn(bool moved, bool anyone) {
    if constexpr (simulated) return pass_time(moved);
    node_.waiter().turn(moved, anyone, [this] {
      node_.look_whether_broken();
      look_for_messages();
    });
  }

  /// Variant of turn() for calls within the progress of the host MPI when nothing has moved. Returns whether the core
  /// was given to others.
  bool rest() {
    return node_.waiter().turn(false, false, [this] { node_.look_whether_broken(); }, false);
  }

  /// Gives up an exchange after an error. `touched`: something was sent, so nothing can be exchanged here any more.
  void abandon(bool touched) { touched ? node_.abandon(Broken::out_of_step) : node_.forget(); }
  /// Makes all ranks of the node stop waiting for one another, because one of them has died.
  void end() { node_.abandon(Broken::rank_died); }
  /// The error for which nothing can be exchanged any more; 0: there is none. If the MPI survives deaths of ranks, a
  /// rank gives up an exchange only because a rank has died or the communicator was revoked.
  int broken() const {
    const Broken why = node_.broken();
    return why == Broken::no                             ? MPI_SUCCESS
           : why == Broken::rank_died || survives_faults ? fault_error()
                                                         : MPI_ERR_OTHER;
  }

  std::size_t shared_bytes() const { return node_.shared_bytes(); }

 private:
  Node node_;
  std::vector<std::int32_t> members_;  ///< number of each rank within the node; -1 for ranks of other nodes
};

/// The result of join(), the same on all ranks.
struct NodePeers::Joined {
  std::unique_ptr<NodePeers> node_peers;  ///< nullptr if a rank of some node has failed
  Means means;                            ///< the available means, and the reason for those that are missing
  std::int64_t prepared = unprepared;     ///< maximum of the numbers of `prepare` over all ranks
};

}  // namespace swapmeet
