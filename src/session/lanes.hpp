/// Lanes, by which several started exchanges of a communicator can be under way at once. A lane holds what an exchange
/// uses alone until it is complete: a plan, and shared memory of the node. The first lane is the communicator's own,
/// which blocking exchanges use, too. The others are prepared when the ranks have agreed that the application starts
/// exchanges before earlier ones are complete, as overlapped transposes do.
///
/// All ranks execute an exchange in the same lane, because the lane follows from the plans of the exchanges and the
/// order of their starts. An exchange begins when all exchanges that were started before it have begun, and the one
/// before it in its lane is complete. So an exchange waits for earlier ones only, and no ranks wait for one another in a
/// circle. At most `most` successive exchanges are under way on a rank, so that their numbers distinguish their messages
/// (team/tags.hpp).
///
/// The limits of the options on messages in flight and on working memory hold for each of these exchanges.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "session/members.hpp"
#include "session/node_sharing.hpp"
#include "session/plan_cache.hpp"

namespace swapmeet {

class Lanes {
 public:
  static constexpr std::size_t most = 4;

  Lanes(const Members& members, const CallObserver& observer)
      : others_{Lane(members, observer), Lane(members, observer), Lane(members, observer)} {}

  /// The number of lanes, 1 at first.
  std::size_t number() const { return number_; }
  /// Uses `number` lanes, at most `most`. Requires that no exchange is under way. The same on all ranks. Local.
  void use(std::size_t number) { number_ = number, prepared_count_ = 0; }

  /// The plan for the exchanges of `plan` in each lane. Fewer than two: they are executed one at a time. The same
  /// number on all ranks. Local.
  std::span<Plan* const> plans_of(const Plan& plan) const;

  /// Whether prepare() may be called for `plan`, so that more of its exchanges can be under way. Local.
  bool may_prepare(const Plan& plan) const {
    return number_ > 1 && prepared_count_ < prepared_.size() && plans_of(plan).empty();
  }
  /// Prepares the lanes for exchanges of `plan`. Collective.
  void prepare(Plan& plan);

  /// The node peers of a lane that is not the first; nullptr if it shares no memory.
  NodePeers* peers(std::size_t lane) const { return others_[lane - 1].node.peers(); }

  /// Frees all plans. Requires that no exchange is under way. Local.
  void clear();
  /// Ends all waiting for node peers. Local.
  void end();

 private:
  struct Lane {
    Lane(const Members& members, const CallObserver& observer) : plans(members, observer, node) {}
    NodeSharing node{2};  // half of the limit stays for other communicators
    PlanCache plans;
  };
  /// The plans of one kind of exchange.
  struct Prepared {
    std::array<Plan*, most> plans{};  ///< of the lanes; the first one is the communicator's
    std::size_t count = 0;            ///< number_, or 1
  };
  static Plan* plan_in(Lane& lane, const Spec& spec);

  std::array<Lane, most - 1> others_;
  std::size_t number_ = 1;
  std::array<Prepared, 16> prepared_;  ///< more kinds of exchanges are executed one at a time
  std::size_t prepared_count_ = 0;
};

}  // namespace swapmeet
