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
#include <memory>
#include <span>

#include "session/node_sharing.hpp"
#include "session/plan_cache.hpp"

namespace swapmeet {

class Lanes {
 public:
  static constexpr std::size_t most = 4;

  /// `plans`: those of the communicator, which makes those of all lanes.
  explicit Lanes(PlanCache& plans) : plans_(plans) {}

  /// The number of lanes, 1 at first.
  std::size_t number() const { return number_; }
  /// Uses `number` lanes, at most `most`, for which nothing is prepared yet. Requires that no exchange is under way. The
  /// same on all ranks. Local.
  void use(std::size_t number) { clear(), number_ = number; }

  /// The exchange in each lane for those of `plan`. Fewer than two: they are executed one at a time. The same number on
  /// all ranks. Local.
  std::span<Exchange* const> exchanges_of(const Plan& plan) const;

  /// Whether prepare() may be called for `plan`, so that more of its exchanges can be under way. Local.
  bool may_prepare(const Plan& plan) const {
    return number_ > 1 && prepared_count_ < prepared_.size() && exchanges_of(plan).empty();
  }
  /// Prepares the lanes for exchanges of `plan`, one after the other. Collective.
  void prepare(Plan& plan);

  /// The node peers of a lane that is not the first; nullptr if it shares no memory.
  NodePeers* peers(std::size_t lane) const { return others_[lane - 1].peers(); }

  /// Frees all plans. Requires that no exchange is under way. Local.
  void clear();
  /// Ends all waiting for node peers. Local.
  void end();

 private:
  /// The exchanges of one plan. They lie in arrays, because a rank that lacked memory for a list would leave the others
  /// waiting in an agreement.
  struct Prepared {
    std::array<Exchange*, most> in_lanes{};  ///< the first one is the communicator's
    std::size_t count = 0;                   ///< number_, or 1
    std::array<std::unique_ptr<Exchange>, most - 1> own{};
  };

  PlanCache& plans_;
  static constexpr int part = 2;  ///< of the limit of shared memory; half of it stays for other communicators
  std::array<NodeSharing, most - 1> others_{NodeSharing(part), NodeSharing(part), NodeSharing(part)};
  std::size_t number_ = 1;
  std::array<Prepared, 16> prepared_;  ///< exchanges of more plans are executed one at a time
  std::size_t prepared_count_ = 0;
};

}  // namespace swapmeet
