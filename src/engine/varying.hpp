/// Exchange of blocks of unequal size, which only their source and their destination know (Alltoallv), by the schedules
/// of equal ones. One message at a time or many in flight, in every radix and layering; what differs is how sizes are
/// treated (Spec::sizes, Source: nonuniform, sloav):
///
///   padded    every block is made as large as the largest, and a plan for equal blocks (or the MPI's own Alltoall)
///             runs
///   ahead     each message is preceded by one with the sizes of its blocks
///   combined  each message begins with the sizes of its blocks; the receiver asks MPI how long it is
///   total     each message begins with the sizes of its blocks, and is preceded by one with its length
///
/// Sizes are left out where the receiver knows them: in messages all of whose blocks end there (Message::last). Blocks
/// above a threshold that all ranks share go straight from their source to their destination meanwhile; in the schedule
/// they count as empty.
///
/// Memory: blocks that stay go to the receive buffer at once. Only messages with blocks that are passed on are kept, as
/// they landed, until the last of these has left. So working memory holds at most Relay::peak_blocks() blocks of their
/// real sizes, none above the threshold, and the sizes of messages in flight: in one dimension with P = r^w and all
/// messages of a digit in flight that is (w+1)(r-1)P/r blocks [checked by tests/core/relay_test.py]. Padded it is 2·P
/// times the largest block.
///
/// Where ranks disagree on the size of a block, which MPI forbids, nothing is written beyond what a rank expects; but
/// the error is told only where more arrives than was expected, and if the threshold lies between the two sizes, the
/// sender waits for ever.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "buffers/blocks.hpp"
#include "engine/courier.hpp"
#include "buffers/memory.hpp"
#include "mpi/outcome.hpp"
#include "engine/plan.hpp"
#include "buffers/pool.hpp"
#include "observe/traffic.hpp"
#include "model/threshold.hpp"
#include "schedule/relay.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

class Varying {
 public:
  /// `forwarding`: what the schedule of `spec` costs. For sizes != padded: `relay` is this rank's part of that
  /// schedule. For padded: `padded` runs the exchange of equal blocks; nullptr: the host MPI does.
  /// `neighbours`: as of a Plan.
  Varying(const Spec& spec, Relay relay, const Forwarding& forwarding, Neighbours* neighbours);
  Varying(const Spec& spec, Rank ranks, Rank rank, const Forwarding& forwarding, Plan* padded);
  ~Varying();
  Varying(const Varying&) = delete;
  Varying& operator=(const Varying&) = delete;

  const Spec& spec() const { return spec_; }

  /// Blocks must be bytes side by side.
  static constexpr bool needs_bytes() { return true; }

  /// The treatment of sizes in use: Spec::sizes, `auto` replaced.
  Sizes sizes() const { return sizes_; }

  /// Blocks of working memory: of this rank at first, and after share_working_blocks(most) the most that any rank
  /// needs.
  std::int64_t working_blocks() const { return working_blocks_; }
  void share_working_blocks(std::int64_t most) { working_blocks_ = most; }

  /// Bytes that the agreement of agree() exchanges: 0 if it needs none.
  std::int64_t agreement_bytes() const { return swapmeet::agreement_bytes(spec_); }

  /// Agrees on the sizes of the next call. Collective, unless agreement_bytes() is 0; then local. False: with these
  /// sizes working memory would exceed `limit_bytes`; so on all ranks.
  bool agree(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes, MPI_Comm comm,
             PhaseClock* clock = nullptr);
  const Agreed& agreed() const { return agreed_; }

  /// Exchanges blocks of bytes on whose sizes agree() was called, as Plan::run() does.
  int run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, PhaseClock* clock = nullptr);

  /// Both without waiting, if there are no neighbours. start_agreement() leaves MPI_REQUEST_NULL in `agreement`, or a
  /// request; when that is complete, concluded() returns what agree() does. start() and advance() are as of a Plan. A
  /// padded plan must be this one's alone.
  int start_agreement(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes, MPI_Comm comm,
                      MPI_Request* agreement);
  bool concluded();
  /// Where it says no: passes nothing on in the exchange that is started next, so that it needs no working memory.
  void send_all_straight();
  void start(const Blocks& send, const Blocks& receive, MPI_Comm comm);
  int advance();

  /// What was sent since this was last asked; without what a padded plan itself sends.
  SentTraffic take_traffic() { return std::exchange(traffic_, {}); }

  /// The most bytes of working memory that was in use at a time so far, without what a padded plan itself uses.
  std::int64_t peak_bytes() const { return padded_peak_ > pool_.peak() ? padded_peak_ : pool_.peak(); }

 private:
  template <class Waiting, class Watching>
  friend class Relaying;
  struct UnderWay;
  template <class Waiting, class Watching>
  class Exchange;

  /// A block on its way: where it lies, and the message that it came with (its own blocks: none).
  struct Item {
    const char* address = nullptr;
    std::int64_t bytes = 0;
    std::uint32_t message = 0;
  };

  void make_room_for_straight();
  // Inlined into all kinds of exchanges.
  [[gnu::always_inline]] inline int send_straight(const Blocks& send, const Blocks& receive, bool& touched);
  [[gnu::always_inline]] inline int copy_own(const Blocks& send, const Blocks& receive, MPI_Comm comm) const;

  /// Writes this rank's part of the agreement to `mine_`. Returns how many numbers that are; 0: there is none.
  int prepare_agreement(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes);

  Spec spec_;
  Sizes sizes_;
  Rank ranks_, rank_;
  Plan* padded_ = nullptr;
  Relay relay_;
  Forwarding forwarding_;
  std::int64_t working_blocks_ = 0;
  Agreed agreed_;
  SizeClasses mine_{}, most_{};   ///< numbers of the agreement: of this rank, and the largest of all
  std::int64_t bound_bytes_ = 0;  ///< of a block, that SWAPMEET_SCRATCH_LIMIT allows
  int agreement_error_ = MPI_SUCCESS;
  std::int64_t padded_peak_ = 0;
  Memory out_, in_;  // padded
  Pool pool_;
  SentTraffic traffic_;
  std::vector<Item> items_;
  std::vector<Landing> landings_;  ///< by the message received
  std::vector<Landing> gathered_;  ///< by the message of the round sent
  std::vector<Landing> heads_;     ///< what goes ahead of the messages of the round: received, then sent
  Courier courier_;
  bool touched_ = false;
  std::unique_ptr<UnderWay> under_way_;
};

}  // namespace swapmeet
