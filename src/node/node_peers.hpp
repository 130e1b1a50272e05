/// The ranks of a communicator that share a node with this one, and the memory that they share.
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

/// Which messages a transport node_records for a single copy.
constexpr SingleCopy single_copy(Transport transport) {
  switch (transport) {
    case Transport::cma: return {0, 0};
    case Transport::automatic:
    case Transport::rows: return {16 << 10, 4 << 10};  // docs/measurements/node.md
    default: return {};
  }
}

/// What a rank tells the others of its communicator before the ranks of each node join. Can be sent as it is.
struct NodeRecord {
  ArenaPart part{};             ///< of this process's arena, in case that it is the first of its node
  std::int64_t used_bytes = 0;  ///< of shared memory, that count for this rank already
  std::int64_t process = 0;
  std::uint64_t address = 0, value = 0;  ///< of memory of the process, and what is there: to know it by
  std::uint64_t process_namespace = 0;   ///< in which `process` is its number; 0: not known
  std::int64_t processors = 0;           ///< that it sees: in another container, other ones
};

/// What lies at NodeRecord::address.
struct ProcessIdentity {
  std::uint64_t value;  ///< by which the process is known
  std::uint64_t
      board;  ///< address of what it publishes for the watchdogs of other ranks (observe/post.hpp); 0: nothing
};

class NodePeers {
 public:
  /// Where others find what this process publishes.
  static void publish(const void* board);

  /// The offer of this process. Local; takes a part of the arena until withdraw(), or until the ranks have joined.
  static NodeRecord reserve(std::int64_t used_bytes, Arenas& arenas);
  /// (After a fault another rank may have joined in this part nonetheless: then it is used no more.)
  static void give_back(const NodeRecord& offer, Arenas& arenas) {
    if (!had_fault()) arenas.give_back(offer.part);
  }

  struct Joined;
  /// What else is to be made on each rank before they agree: returns a number of it, or `unprepared`.
  using Prepare = std::function<std::int64_t(NodePeers*)>;
  static constexpr std::int64_t unprepared = INT64_MAX;

  /// Joins the ranks of each node, in half of the memory that is left of `most_bytes` for each of them. `node_records`: of the
  /// ranks of this node, that of this rank among them. Collective over `everyone`, those of the group. `regions`: as of Node.
  static Joined join(const Peers& everyone, const NodeGroup& group, std::span<const NodeRecord> node_records,
                     std::int64_t most_bytes, Regions& regions, Arenas& arenas, const Prepare& prepare);

  /// `processes`: as of Node::watch().
  NodePeers(Node node, std::vector<std::int32_t> members, std::vector<pid_t> processes)
      : node_(std::move(node)), members_(std::move(members)) {
    node_.watch(std::move(processes));
  }

  /// The way to `rank`; nullptr: it is on another node.
  NodeLink* link(Rank rank) {
    const std::int32_t member = members_[static_cast<std::size_t>(rank)];
    return member < 0 ? nullptr : &node_.link(static_cast<std::uint32_t>(member));
  }

  NodeLink* member(std::uint32_t number) { return &node_.link(number); }

  bool advance(Transfer& transfer) { return node_.advance(transfer); }
  bool send_now(NodeLink& link, const Piece& piece, std::uint16_t call) { return node_.send_now(link, piece, call); }

  void begin_in_place() { node_.begin_in_place(); }

  NodeRows& rows() { return node_.rows(); }
  bool raise() { return node_.raise(); }
  void waits_for(const NodeLink& late) { node_.waits_for(late); }
  bool has_regions() const { return node_.regions().any(); }

  /// Says where this rank is, for those that wait for it.
  void here() { node_.waiter().here(); }

  /// At the end of each turn of a loop that waits: lets MPI go on now and then; waits a little, if nothing has `moved`.
  /// `anyone`: as of Waiter.
  void turn(bool moved, bool anyone) {
    if constexpr (simulated) return pass_time(moved);
    node_.waiter().turn(moved, anyone, [this] {
      node_.look_whether_broken();
      look_for_messages();
    });
  }

  /// Something has moved, and this rank goes on without a turn.
  void moved() { node_.waiter().moved(); }

  /// The same within the progress of the host MPI, where nothing has moved. Returns whether it has given the core away.
  bool rest() {
    return node_.waiter().turn(false, false, [this] { node_.look_whether_broken(); }, false);
  }

  /// After an error in the middle of an exchange. If anything was sent (`touched`), nothing can be exchanged here any
  /// more.
  void abandon(bool touched) { touched ? node_.abandon(Broken::out_of_step) : node_.forget(); }
  /// No rank of the node is to wait for another any more: one has died.
  void end() { node_.abandon(Broken::rank_died); }
  /// Why nothing can be exchanged any more: an error; 0: it can. Where ranks survive others that die, one that has given
  /// up an exchange has met such a death, or the communicator is revoked.
  int broken() const {
    const Broken why = node_.broken();
    return why == Broken::no ? MPI_SUCCESS : why == Broken::rank_died || survives_faults ? rank_died() : MPI_ERR_OTHER;
  }

  std::size_t shared_bytes() const { return node_.shared_bytes(); }

 private:
  Node node_;
  std::vector<std::int32_t> members_;  ///< number within the node of each rank of the communicator, or -1
};

/// What joining came to, the same on all ranks.
struct NodePeers::Joined {
  std::unique_ptr<NodePeers> node_peers{};  ///< nullptr: a rank of some node cannot join
  Means means{};                            ///< and why
  std::int64_t prepared = unprepared;       ///< the most that was prepared on any rank
};

}  // namespace swapmeet
