/// An exchange of blocks of unequal size, which only their source and their destination know (Alltoallv), by the flows of
/// equal ones. One message at a time or many in flight, in every radix and layering; what differs is how sizes are
/// treated (Spec::sizes, Source: nonuniform, sloav):
///
///   padded    every block is made as large as the largest, and a plan for equal blocks (or the MPI's own Alltoall)
///             runs
///   ahead     each message is preceded by one with the sizes of its blocks
///   combined  each message begins with the sizes of its blocks; the receiver asks MPI how long it is
///   total     each message begins with the sizes of its blocks, and is preceded by one with its length
///
/// Sizes are left out where the receiver knows them: in messages all of whose blocks end there (Message::last), and in all
/// messages of a call whose blocks are of one size, which the agreement on the threshold tells. Blocks above a threshold that all ranks share are sent directly from their source to their destination meanwhile; in the
/// flow they count as empty.
///
/// Memory: blocks that stay go to the receive buffer at once. Only messages with blocks that are passed on are kept, as
/// they arrived, until the last of these has left. So working memory holds at most peak_blocks() of the flow, of their
/// real sizes, none above the threshold, and the sizes of messages in flight: in one dimension with P = r^w and all
/// messages of a digit in flight that is (w+1)(r-1)P/r blocks [checked by tests/core/flow_test.py]. Padded it is 2·P
/// times the largest block.
///
/// Where ranks disagree on the size of a block, which MPI forbids, nothing is written beyond what a rank expects; but
/// the error is reported only where more arrives than was expected, and if the threshold lies between the two sizes, the
/// sender waits for ever.
#pragma once

#include <array>
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
  /// `forwarding`: what the flow of `spec` costs. For sizes != padded: `flow` is this rank's part. For padded it is
  /// empty, and `padded` runs the exchange of equal blocks, its own alone; nullptr: the host MPI does, in calls that wait.
  /// `neighbours`: as of a Plan. `working_blocks`: at most so many blocks of working memory are in use at a time. `among`: as of SizedState.
  SizedPlan(const Spec& spec, Flow flow, const Forwarding& forwarding, std::int64_t working_blocks,
            NodePeers* node_peers, const Tags& tags, const Neighbourhood* among = nullptr);
  SizedPlan(const Spec& spec, Rank ranks, Rank rank, const Forwarding& forwarding, std::unique_ptr<Plan> padded,
            const Tags& tags);
  ~SizedPlan() override;

  /// Blocks must be bytes side by side.
  Needs needs() const override { return Needs::bytes; }

  /// Whether so many messages can be told apart.
  bool fits() const { return state_.fits(tags_); }

  /// The treatment of sizes in use: Spec::sizes, `auto` replaced.
  Sizes sizes() const { return state_.sizes; }

  std::int64_t working_blocks() const override { return working_blocks_; }
  void share_working_blocks(std::int64_t most) override { working_blocks_ = most; }

  /// Bytes that the agreement of agree() exchanges: 0 if it needs none.
  std::int64_t agreement_bytes() const { return swapmeet::agreement_bytes(spec_); }

  /// Agrees on the sizes of the next call. Collective, unless agreement_bytes() is 0; then local. False: with these
  /// sizes working memory would exceed `limit_bytes`, or cannot be had; so on all ranks.
  bool agree(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes, const Invocation& call);
  const Agreed& agreed() const { return agreed_; }

  /// Instead: passes nothing on in the exchanges that follow, so that they need no working memory.
  void send_all_directly();

  int run(const Blocks& send, const Blocks& receive, const Invocation& call, bool& sent) override;
  void start(const Blocks& send, const Blocks& receive, const Invocation& call) override;
  int advance() override;

  std::optional<SentTraffic> traffic(const Blocks&) const override { return last_traffic_; }

  /// What was sent since this was last asked; without what a padded plan itself sends.
  SentTraffic take_traffic() { return std::exchange(state_.traffic, {}); }

  /// Without what a padded plan itself uses.
  std::int64_t peak_bytes() const override;

 private:
  template <class Watching>
  struct ExchangeState;
  struct UnderWay;

  /// What a rank tells of its sizes, such that all may take the largest: bytes of the largest block, and of the smallest,
  /// negative; then blocks by class, where the threshold depends on them.
  static constexpr std::size_t most_told = 2 + size_classes;
  using AgreedNumbers = std::array<std::int64_t, most_told>;
  /// This rank's part of the agreement, in `mine`; empty: there is none.
  std::span<std::int64_t> prepare_agreement(const Blocks& send, const Blocks& receive, AgreedNumbers& mine);
  /// MPI_ERR_OTHER: other ranks are in another exchange.
  int settle(std::span<std::int64_t> numbers, const Invocation& call);
  int ended(int error, bool broken);
  /// The error of an exchange by what is broken.
  int given_up() const;

  SizedState state_;
  Local local_;
  std::unique_ptr<Plan> plan_;  ///< of padded blocks
  std::optional<Padded> padded_;
  Forwarding forwarding_;
  std::int64_t working_blocks_ = 0;
  /// Of an agreement, and of its messages: the number of the call, as it is and negative, then what ranks tell.
  std::array<std::int64_t, 2 + most_told> agreement_;
  std::array<std::int64_t, 2 * (2 + most_told)> agreement_room_;
  Agreed agreed_;
  std::int64_t bound_bytes_ = 0;  ///< of a block, that SWAPMEET_SCRATCH_LIMIT allows
  int agreement_error_ = MPI_SUCCESS;
  std::optional<SentTraffic> last_traffic_;
  LostData lost_;
  std::unique_ptr<UnderWay> under_way_;
};

}  // namespace swapmeet
