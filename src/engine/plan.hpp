/// A schedule made ready to run over MPI, again and again, one exchange at a time: its requests are allocated once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "buffers/memory.hpp"
#include "engine/mixed_step.hpp"
#include "engine/operations.hpp"
#include "engine/parts.hpp"
#include "observe/phases.hpp"
#include "observe/traffic.hpp"
#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

class Plan {
 public:
  /// `schedule` is of this rank, made from `spec`. `neighbours`: nullptr if spec.intra is mpi; they must live as long.
  /// Local.
  Plan(const Spec& spec, Schedule schedule, Neighbours* neighbours);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Spec& spec() const { return spec_; }

  /// Whether blocks must be contiguous on both sides, for they are cut, forwarded or copied as bytes.
  bool needs_bytes() const { return needs_bytes_; }

  /// Whether it makes MPI datatypes, with an int for the bytes of a block.
  bool makes_types() const { return forwards() && spec_.packing == Packing::datatype; }

  /// Blocks of working memory that the schedule itself uses: of this rank at first, and after
  /// share_scratch_blocks(most) the most that any rank needs, which is what decisions may be based on.
  std::int64_t scratch_blocks() const { return shared_scratch_blocks_; }
  void share_scratch_blocks(std::int64_t most) { shared_scratch_blocks_ = most; }

  /// Blocks of working memory that a call may take, where both sides are staged: part of it only for derived types and
  /// in place, but which ranks use these is not shared.
  std::int64_t working_blocks() const { return 2 * std::int64_t{schedule_.ranks} + shared_scratch_blocks_; }

  /// Exchanges blocks over `comm`, whose traffic must be ours alone and whose errors return. Collective; blocks until
  /// the rank's own part is done; allocates nothing (once scratch memory and lists are there, and without
  /// pack=datatype). A plan that needs_bytes() requires contiguous types, and if it forwards, blocks of one size side
  /// by side. On an error no request is left, and `touched` says whether anything was sent: if not, the call may be
  /// made again. Not to be called by two threads at a time (nor would MPI allow it on one communicator). `clock`: see
  /// Watch.
  int run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, PhaseClock* clock = nullptr);

  /// The same for rows_of() the blocks, if that is something, and others like them elsewhere in memory.
  int run(const Rows& rows, MPI_Comm comm, bool& touched, PhaseClock* clock = nullptr);
  std::optional<Rows> rows_of(const Blocks& send, const Blocks& receive) const;

  /// The same without waiting, if it has no neighbours: start() readies everything, which is local, and advance() does
  /// what can be done, as often as it returns `unfinished`; then it is over, with MPI_SUCCESS or an error. The blocks
  /// stay where they are until then. start() allocates some memory.
  int start(const Blocks& send, const Blocks& receive, MPI_Comm comm);
  int advance();

  /// What this rank sends in one exchange of blocks of so many bytes, at most.
  SentTraffic traffic(std::int64_t block_bytes) const;
  /// The same of blocks of any size. Requires that it forwards none.
  SentTraffic traffic(const Blocks& sent) const;

 private:
  struct UnderWay;
  template <class Parts>
  struct PassUnderWay;

  template <class Watching>
  int run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, Watching watch);
  template <class Watching>
  int run(const Rows& rows, MPI_Comm comm, bool& touched, Watching watch);
  bool forwards() const { return spec_.family != Family::direct; }
  bool broken() const { return local_.neighbours && local_.neighbours->broken(); }
  bool segmented() const { return schedule_.segment_bytes > 0; }

  Spec spec_;
  const Schedule schedule_;
  std::vector<Operation> operations_;  ///< of the schedule, unless it is cut
  bool needs_bytes_ = false;
  std::int64_t shared_scratch_blocks_ = 0;
  Memory scratch_;
  MessageTypes types_;
  std::vector<MPI_Status> statuses_;   ///< of the requests
  std::vector<MPI_Request> requests_;  ///< 2·window of the widest step: receives, then sends
  Local local_;
  Rows rows_{};  ///< of the exchange under way
  bool touched_ = false;
  std::unique_ptr<UnderWay> under_way_;
};

}  // namespace swapmeet
