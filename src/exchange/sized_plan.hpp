/// An exchange of blocks of unequal size, which only their source and their destination know (Alltoallv). It uses the
/// flows for equal blocks, with one message or many in flight, and with every radix and layering. Variants differ in
/// the treatment of sizes (Spec::sizes, Source: nonuniform, sloav):
///
///   padded    Every block is padded to the size of the largest. A plan for equal blocks (or the host MPI's
///             Alltoall) exchanges them.
///   ahead     Each message is preceded by a header message with the sizes of its blocks.
///   combined  Each message begins with the sizes of its blocks. The receiver asks MPI for its length.
///   total     Each message begins with the sizes of its blocks, and is preceded by a header message with its length.
///
/// Sizes are left out where the receiver knows them: in messages of which all blocks end at the receiver
/// (Message::last), and in all messages of a call if all blocks have the same size, as the agreement on the threshold
/// shows. Blocks above a threshold, which all ranks share, are sent directly from their source to their destination at
/// the same time; in the flow they count as empty.
///
/// Memory: blocks that have reached their destination are copied to the receive buffer at once. Only messages with
/// blocks to forward are kept, as they arrived, until the last of these blocks has left. Working memory therefore holds
/// at most peak_blocks() blocks of the flow, with their real sizes and none above the threshold, and the sizes of
/// messages in flight. In one dimension with P = r^w, and with all messages of a digit in flight, that is (w+1)(r-1)P/r
/// blocks [checked by tests/core/flow_test.py]. Padded, it is 2·P times the largest block.
///
/// If ranks disagree on the size of a block, which MPI forbids, a rank writes nothing beyond the size that it expects.
/// The error is reported only if a message is longer than expected. If the threshold lies between the two sizes, the
/// sender waits for ever.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "exchange/exchange.hpp"
#include "exchange/plan.hpp"
#include "exchange/sized.hpp"
#include "model/threshold.hpp"

namespace swapmeet {

class SizedPlan final : public Exchange {
 public:
  /// First constructor: for all sizes other than padded. `flow` is this rank's part; `working_blocks` is the most
  /// blocks of working memory in use at a time; `node_peers` is as for a Plan, and `among` as for a SizedState.
  ///
  /// Second constructor: for sizes=padded. `padded` exchanges the equal blocks and belongs to this plan alone; nullptr:
  /// the host MPI exchanges them, in calls that wait.
  ///
  /// `forwarding` is the cost of the flow of `spec`.
  SizedPlan(const Spec& spec, Flow flow, const Forwarding& forwarding, std::int64_t working_blocks,
            NodePeers* node_peers, const Neighbourhood* among = nullptr);
  SizedPlan(const Spec& spec, Rank ranks, Rank rank, const Forwarding& forwarding, std::unique_ptr<Plan> padded);
  ~SizedPlan() override;

  /// Requires contiguous blocks.
  Needs needs() const override { return Needs::bytes; }

  /// Whether `tags` can distinguish all messages of the flow that may be under way together.
  bool fits(const Tags& tags) const { return state_.most_together <= tags.most_together(); }

  /// The treatment of sizes in use: Spec::sizes, with `auto` resolved.
  Sizes sizes() const { return state_.sizes; }

  std::int64_t working_blocks() const override { return working_blocks_; }
  void share_working_blocks(std::int64_t most) override { working_blocks_ = most; }

  /// Bytes that each rank contributes to the agreement of agree(); 0: no agreement is needed.
  std::int64_t agreement_bytes() const { return swapmeet::agreement_bytes(spec_); }

  /// Agrees on the sizes of the next call. Collective if agreement_bytes() is not 0, otherwise local. Returns false, on
  /// all ranks, if working memory for these sizes would exceed `limit_bytes` or cannot be allocated. If the agreement
  /// itself fails, the plan is broken().
  bool agree(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes, const Invocation& call);
  const Agreed& agreed() const { return agreed_; }

  /// Alternative to agree(): all blocks of the following exchanges are sent directly, so that they need no working
  /// memory.
  void send_all_directly();

  int start(const Blocks& send, const Blocks& receive, const Invocation& call) override;
  int advance() override;

  /// Both do not include the traffic of the padded plan.
  std::optional<SentTraffic> traffic(const Blocks&) const override { return last_traffic_; }
  SentTraffic last_traffic() const { return last_traffic_.value_or(SentTraffic{}); }

  /// Does not include the working memory of the padded plan.
  std::int64_t peak_bytes() const override;

 private:
  template <class Watching>
  struct Executor;
  struct UnderWay;

  /// Writes this rank's numbers to `mine` and returns those in use; empty if no agreement is needed.
  std::span<std::int64_t> prepare_agreement(const Blocks& send, const Blocks& receive, AgreedNumbers& mine);
  /// Replaces `numbers` by their maximum over all ranks. Returns MPI_ERR_OTHER if other ranks are in another exchange.
  int settle(std::span<std::int64_t> numbers, const Invocation& call);
  /// Never freed if the plan is broken, because MPI may still read its memory.
  std::unique_ptr<SizedState> memory_;
  SizedState& state_ = *memory_;
  std::unique_ptr<Plan> plan_;  ///< exchanges padded blocks
  std::optional<Padded> padded_;
  Forwarding forwarding_;
  std::int64_t working_blocks_ = 0;
  Agreed agreed_;
  std::int64_t bound_bytes_ = 0;  ///< size of the largest block that SWAPMEET_SCRATCH_LIMIT allows
  int agreement_error_ = MPI_SUCCESS;
  std::optional<SentTraffic> last_traffic_;
  LostData lost_;
  std::unique_ptr<UnderWay> under_way_;
};

}  // namespace swapmeet
