#include "engine/plan.hpp"

#include <algorithm>
#include <cstdint>

#include "engine/pass.hpp"

namespace swapmeet {

Plan::Plan(const Spec& spec, Schedule schedule, Neighbours* neighbours) : spec_(spec), schedule_(std::move(schedule)) {
  std::uint32_t widest = 0;
  for (const Step& step : schedule_.steps) widest = std::max(widest, step.in_flight());
  requests_.assign(2 * std::size_t{widest}, MPI_REQUEST_NULL);
  statuses_.resize(requests_.size());
  shared_scratch_blocks_ = schedule_.scratch_blocks;
  if (neighbours) local_ = {neighbours, single_copy(spec.intra), {requests_, {}, {}}};
  local_.slots.transfers.resize(local_.neighbours ? requests_.size() : 0);
  local_.slots.pieces.resize(local_.slots.transfers.size());
  needs_bytes_ = segmented() || forwards() || local_.neighbours;
  if (!segmented()) operations_ = operations_of(schedule_, local_.neighbours == nullptr);
}

int Plan::run(const Rows& rows, MPI_Comm comm, bool& touched, PhaseClock* clock) {
  if (clock) [[unlikely]]
    return run(rows, comm, touched, Watch(clock));
  return run(rows, comm, touched, Unwatched());
}

template <class Watching>
int Plan::run(const Rows& rows, MPI_Comm comm, bool& touched, Watching watch) {
  if (broken()) return touched = true, MPI_ERR_OTHER;
  touched = false;
  if (rows.block_bytes == 0) return MPI_SUCCESS;
  if (!scratch_.reserve(schedule_.scratch_blocks * rows.block_bytes)) return touched = true, MPI_ERR_NO_MEM;
  const RowParts parts(schedule_, rows, scratch_.memory(), types_);
  const int error = Pass<RowParts, Blocking, Watching>(schedule_, parts, comm, requests_.data(), statuses_.data(),
                                                       local_, touched, watch)
                        .run(operations_);
  scratch_.release();
  return error;
}

std::optional<Rows> Plan::rows_of(const Blocks& send, const Blocks& receive) const {
  if (segmented() || send.bytes(0) != receive.bytes(0)) return std::nullopt;
  if (!forwards() && (!send.side_by_side() || !receive.side_by_side())) return std::nullopt;
  const Rows::Unit bytes{receive.bytes(0), MPI_BYTE};
  Rows rows{send.address(0), receive.address(0), bytes.count, bytes, bytes};
  if (needs_bytes()) return rows;
  rows.sent = {send.count(0), send.type(0).handle};  // the other end may know only a derived type
  rows.received = {receive.count(0), receive.type(0).handle};
  return rows;
}

int Plan::run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, PhaseClock* clock) {
  if (const std::optional<Rows> rows = rows_of(send, receive)) return run(*rows, comm, touched, clock);
  if (broken()) return touched = true, MPI_ERR_OTHER;
  touched = false;
  if (forwards()) return MPI_ERR_ARG;  // what is sent is not what is received: the host MPI is to say so
  return clock ? run(send, receive, comm, touched, Watch(clock)) : run(send, receive, comm, touched, Unwatched());
}

template <class Watching>
int Plan::run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, Watching watch) {
  const BlockParts parts(schedule_, send, receive, needs_bytes_);
  return Pass<BlockParts, Blocking, Watching>(schedule_, parts, comm, requests_.data(), statuses_.data(), local_,
                                              touched, watch)
      .run();
}

struct Plan::UnderWay {
  virtual ~UnderWay() = default;
  virtual int advance() = 0;
};

template <class Parts>
struct Plan::PassUnderWay : UnderWay {
  PassUnderWay(Plan& plan, const Parts& parts, MPI_Comm comm)
      : pass(plan.schedule_, parts, comm, plan.requests_.data(), plan.statuses_.data(), plan.local_, plan.touched_,
             {}) {}
  int advance() override { return pass.run(); }
  Pass<Parts, Nonblocking, Unwatched> pass;
};

Plan::~Plan() = default;

int Plan::start(const Blocks& send, const Blocks& receive, MPI_Comm comm) {
  if (const std::optional<Rows> rows = rows_of(send, receive)) {
    rows_ = *rows;
    if (rows_.block_bytes == 0) return MPI_SUCCESS;
    if (!scratch_.reserve(schedule_.scratch_blocks * rows_.block_bytes)) return MPI_ERR_NO_MEM;
    const RowParts parts(schedule_, rows_, scratch_.memory(), types_);
    under_way_ = std::make_unique<PassUnderWay<RowParts>>(*this, parts, comm);
    return MPI_SUCCESS;
  }
  if (forwards()) return MPI_ERR_ARG;
  const BlockParts parts(schedule_, send, receive, needs_bytes_);
  under_way_ = std::make_unique<PassUnderWay<BlockParts>>(*this, parts, comm);
  return MPI_SUCCESS;
}

int Plan::advance() {
  if (!under_way_) return MPI_SUCCESS;
  const int error = under_way_->advance();
  if (error == unfinished) return error;
  under_way_.reset();
  scratch_.release();
  return error;
}

SentTraffic Plan::traffic(std::int64_t block_bytes) const {
  const std::int64_t segments = segmented() ? (block_bytes + schedule_.segment_bytes - 1) / schedule_.segment_bytes : 1;
  SentTraffic sent;
  for (const Message& message : schedule_.sends) {
    sent.messages += segments;
    for (const Run& run : schedule_.runs_of(message)) sent.bytes += run.count * block_bytes;
  }
  return block_bytes == 0 ? SentTraffic{} : sent;
}

SentTraffic Plan::traffic(const Blocks& sent) const {
  SentTraffic all;
  for (const Message& message : schedule_.sends) {
    const std::int64_t bytes = sent.bytes(schedule_.runs[message.first].first);
    all.messages += segmented() ? (bytes + schedule_.segment_bytes - 1) / schedule_.segment_bytes : bytes > 0;
    all.bytes += bytes;
  }
  return all;
}

}  // namespace swapmeet
