/// An exchange of blocks whose sizes both ends know, executed by a schedule.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "buffers/memory.hpp"
#include "exchange/equal.hpp"
#include "exchange/exchange.hpp"
#include "exchange/operations.hpp"

namespace swapmeet {

class Plan final : public Exchange {
 public:
  /// `schedule` is the schedule of this rank, made from `spec`. `node_peers`: nullptr if spec.intra is mpi; otherwise
  /// it must outlive the plan. Local.
  Plan(const Spec& spec, Schedule schedule, NodePeers* node_peers);
  ~Plan() override;

  Needs needs() const override { return needs_; }
  bool allows_in_place() const override { return allows_in_place_; }

  /// Whether the plan makes MPI datatypes, whose size in bytes must fit into an int.
  bool makes_types() const { return forwards() && spec_.packing == Packing::datatype; }

  /// Includes staging buffers for both sides. They are needed only for derived types and in place, but a rank does not
  /// know whether others use these.
  std::int64_t working_blocks() const override { return both_sides() + shared_scratch_blocks_; }
  void share_working_blocks(std::int64_t most) override { shared_scratch_blocks_ = most - both_sides(); }

  /// Requires that takes() holds for the blocks. If the plan forwards blocks, all must have one size and lie side by
  /// side.
  int start(const Blocks& send, const Blocks& receive, const Invocation& call) override;
  int advance() override;

  /// Variant of run() for rows_of() the blocks, if that has a value, and for buffers of the same shape at other
  /// addresses.
  using Exchange::run;
  int run(const Rows& rows, const Invocation& call);
  std::optional<Rows> rows_of(const Blocks& send, const Blocks& receive) const;

  /// Upper bound of the traffic that this rank sends in one exchange of blocks of `block_bytes` bytes.
  SentTraffic traffic(std::int64_t block_bytes) const;
  std::optional<SentTraffic> traffic(const Blocks& sent) const override;
  std::int64_t peak_bytes() const override { return 0; }

 private:
  struct Executors;
  struct Executor;
  template <class Payload, class Watching>
  struct ExecutorOf;

  std::int64_t both_sides() const {
    return std::int64_t{schedule_.blocks_in(Buffer::send)} + schedule_.blocks_in(Buffer::receive);
  }
  bool all_local() const;
  bool in_one_step() const;
  void list_rows();

  bool forwards() const { return spec_.family != Family::direct; }
  bool segmented() const { return schedule_.segment_bytes > 0; }

  const Schedule schedule_;
  std::vector<Operation> operations_;  ///< of the schedule, unless it has segments
  /// Messages that can be exchanged by rows: their links and blocks. Empty, or all messages of the schedule, which then
  /// has one step.
  RowPeers row_peers_;
  std::vector<std::int32_t> row_sends_, row_receives_;
  Needs needs_ = Needs::nothing;
  bool allows_in_place_ = false;
  std::int64_t shared_scratch_blocks_ = 0;
  NodeTransport node_;
  Memory scratch_;
  MessageTypes types_;
  RoundMessages messages_;
  LostData lost_;
  std::unique_ptr<Executors> executors_;
};

}  // namespace swapmeet
