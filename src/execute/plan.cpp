/// The executor: runs the steps of a schedule, and within a step keeps `window` messages in flight under its completion
/// rule. Messages without data are left out: both ends know the size of a block, so both leave it out.
#include "execute/plan.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>

#include "execute/mixed_step.hpp"

namespace swapmeet {

namespace {

/// One pass over the schedule. `Watching`: Watch or Unwatched.
template <class Parts, class Watching>
class Pass {
 public:
  Pass(const Schedule& schedule, const Parts& parts, MPI_Comm comm, MPI_Request* requests, MPI_Status* statuses, Local& local,
       bool& touched, Watching watch)
      : schedule_(schedule), parts_(parts), comm_(comm), requests_(requests), statuses_(statuses), local_(local),
        touched_(touched), watch_(watch) {}

  /// By the list of operations, which is as the schedule. For rows.
  int run(const std::vector<Operation>& operations) {
    for (const Operation& operation : operations) {
      int error = MPI_SUCCESS;
      watch_.step(index_of(*operation.step));
      switch (operation.kind) {
        case Operation::Kind::copy: {
          const auto phase = watch_.during(phase_of(operation.step->purpose));
          parts_.copy(operation.from, operation.to);
          break;
        }
        case Operation::Kind::swap:
          error = swap(parts_.template row<true>(operation.from), operation.destination,
                       parts_.template row<false>(operation.to), operation.source);
          break;
        case Operation::Kind::step: error = run(*operation.step); break;
      }
      if (error != MPI_SUCCESS) return error;
    }
    return outcome_.received_wrong();
  }

  int run() {
    for (const Step& step : schedule_.steps) {
      watch_.step(index_of(step));
      if (const int error = run(step)) return error;
    }
    return outcome_.received_wrong();
  }

 private:
  std::size_t index_of(const Step& step) const { return static_cast<std::size_t>(&step - schedule_.steps.data()); }

  int run(const Step& step) {
    if (step.send_count + step.receive_count == 0) return copy(step);
    if (local_.neighbours)
      return MixedStep(schedule_, step, parts_, comm_, *local_.neighbours, local_.single_copy, local_.slots, outcome_,
                       touched_, watch_).run();
    return step.completion == Completion::all ? run_batches(step) : run_refilled(step);
  }

  /// Starts one message, unless it has no data; `request` then stays what it was.
  template <bool is_send>
  [[gnu::always_inline]] int start(const Message& message, MPI_Request* request) {
    const Part blocks = parts_.template of<is_send>(message);
    if (blocks.count == 0) return MPI_SUCCESS;
    watch_.begins(request, is_send ? Direction::send : Direction::receive, message.peer, blocks, parts_tag);
    if constexpr (!is_send) return irecv(blocks, message.peer, parts_tag, comm_, request);
    const int error = isend(blocks, message.peer, parts_tag, comm_, request);
    if (error == MPI_SUCCESS) touched_ = true;
    return error;
  }

  /// The copies of a step.
  int copy(const Step& step) {
    const auto phase = watch_.during(phase_of(step.purpose));
    for (const Copy& copy : schedule_.copies_of(step))
      if (const int error = parts_.copy(copy, comm_, outcome_)) return error;
    return MPI_SUCCESS;
  }

  int run_batches(const Step& step) {
    const Message* send = schedule_.sends.data() + step.first_send;
    const Message* receive = schedule_.receives.data() + step.first_receive;
    const Message *const sends_end = send + step.send_count, *const receives_end = receive + step.receive_count;
    const std::ptrdiff_t window = step.window == 0 ? PTRDIFF_MAX : step.window;
    bool copied = step.copy_count == 0;
    while (send != sends_end || receive != receives_end) {
      const auto sends = std::min(window, sends_end - send), receives = std::min(window, receives_end - receive);
      const Step* const copies = copied ? nullptr : &step;
      copied = true;
      const int error = step.window == 1 && sends == receives ? exchange_pair(copies, send, receive)
                                                         : exchange_batch(copies, step.posting, send, sends, receive, receives);
      if (error != MPI_SUCCESS) return error;
      send += sends;
      receive += receives;
    }
    return MPI_SUCCESS;
  }

  /// `copies`: a step whose copies are to be made meanwhile, or nullptr.
  int exchange_pair(const Step* copies, const Message* send, const Message* receive) {
    const Part out = parts_.template of<true>(*send), in = parts_.template of<false>(*receive);
    if (out.count == 0 || in.count == 0) return exchange_batch(copies, Posting::receives_first, send, 1, receive, 1);
    const int error = swap(out, send->peer, in, receive->peer);
    return error != MPI_SUCCESS || !copies ? error : copy(*copies);
  }

  int swap(const Part& out, Rank to, const Part& in, Rank from) {
    const auto phase = watch_.during(CallPhase::transfer);
    watch_.begins(&in, Direction::receive, from, in, parts_tag);
    watch_.begins(&out, Direction::send, to, out, parts_tag);
    const int error = sendrecv(out, to, in, from, parts_tag, comm_);
    watch_.done(&in);
    watch_.done(&out);
    if (error == MPI_SUCCESS) [[likely]] {
      touched_ = true;
      return error;
    }
    touched_ |= !refused(error);
    return outcome_.noted(error);
  }

  int exchange_batch(const Step* copies, Posting posting, const Message* send, std::ptrdiff_t sends,
                     const Message* receive, std::ptrdiff_t receives) {
    MPI_Request* const in = requests_;
    MPI_Request* const out = requests_ + receives;
    std::ptrdiff_t received = 0, sent = 0;
    int error = MPI_SUCCESS;
    const auto phase = watch_.during(CallPhase::transfer);
    if (posting == Posting::receives_first)
      for (; received < receives && !error; ++received) error = start<false>(receive[received], cleared(in + received));
    while ((received < receives || sent < sends) && !error) {
      if (received < receives) {
        error = start<false>(receive[received], cleared(in + received));
        ++received;
      }
      if (sent < sends && !error) {
        error = start<true>(send[sent], cleared(out + sent));
        ++sent;
      }
    }
    if (!error && copies) error = copy(*copies);
    if (error) return abandon({in, static_cast<std::size_t>(received)}, {out, static_cast<std::size_t>(sent)}), error;
    const std::span<MPI_Request> all(requests_, static_cast<std::size_t>(receives + sends));
    phase.then(CallPhase::wait);
    error = outcome_.wait_all(all, statuses_);
    watch_.done(all);
    return error;
  }

  static MPI_Request* cleared(MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    return request;
  }

  /// Starts the next message that has data, in the request slot `slot`; none left: the slot stays empty.
  template <bool is_send>
  int refill(std::span<const Message> messages, std::size_t& next, MPI_Request* slot) {
    *slot = MPI_REQUEST_NULL;
    while (next < messages.size() && *slot == MPI_REQUEST_NULL) {
      const Message& message = messages[next++];
      if (const int error = start<is_send>(message, slot)) return error;
    }
    return MPI_SUCCESS;
  }

  int run_refilled(const Step& step) {
    const auto sends = schedule_.sends_of(step), receives = schedule_.receives_of(step);
    const int window = static_cast<int>(step.in_flight());
    std::size_t next_send = 0, next_receive = 0;
    int error = MPI_SUCCESS;
    const auto phase = watch_.during(CallPhase::transfer);
    const auto fill = [&](int slot) {
      return slot < window ? refill<false>(receives, next_receive, &requests_[slot])
                           : refill<true>(sends, next_send, &requests_[slot]);
    };
    const bool receives_first = step.posting == Posting::receives_first;
    std::fill_n(requests_, 2 * window, MPI_REQUEST_NULL);
    for (int i = 0; i < 2 * window && !error; ++i) error = fill(receives_first ? i : i / 2 + i % 2 * window);
    if (!error) error = copy(step);
    while (!error) {
      int slot = MPI_UNDEFINED;
      phase.then(CallPhase::wait);
      error = wait_any(step, 2 * window, slot);
      if (error) error = outcome_.noted(error);
      if (error || slot == MPI_UNDEFINED) break;
      watch_.done(&requests_[slot]);
      phase.then(CallPhase::transfer);
      error = fill(slot);
    }
    const auto slots = static_cast<std::size_t>(window);
    if (error) abandon({requests_, slots}, {requests_ + window, slots});
    return error;
  }

  /// The slot of a request that has completed, MPI_UNDEFINED if there is none in flight. Not MPI_Waitany: MPICH 5 spins in
  /// it without giving the core away, which takes some 30 times as long where ranks share cores.
  int wait_any(const Step& step, int count, int& slot) {
    const int patience = step.completion == Completion::any ? 16 : 1024;  // polls before others may have the core
    for (int polls = 0;; ++polls) {
      int flag = 0;
      const int error = PMPI_Testany(count, requests_, &slot, &flag, MPI_STATUS_IGNORE);
      if (error || flag) return error;
      if (polls >= patience) sched_yield();
    }
  }

  const Schedule& schedule_;
  const Parts parts_;
  MPI_Comm comm_;
  MPI_Request* requests_;
  MPI_Status* statuses_;
  Local& local_;
  bool& touched_;
  Outcome outcome_;
  [[no_unique_address]] Watching watch_;
};

/// Passes that this rank takes part in: enough for its largest block.
std::int64_t passes(const Schedule& schedule, const Blocks& send, const Blocks& receive) {
  std::int64_t largest = 0;
  for (Rank i = 0; i < schedule.ranks; ++i) largest = std::max({largest, send.bytes(i), receive.bytes(i)});
  return (largest + schedule.segment_bytes - 1) / schedule.segment_bytes;
}

}  // namespace

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

template <class Watching>
int Plan::run_parts(const Blocks& send, const Blocks& receive, MPI_Comm comm, std::int64_t offset, bool& touched,
                    Watching watch) {
  const BlockParts parts(schedule_, send, receive, needs_bytes_, offset);
  return Pass(schedule_, parts, comm, requests_.data(), statuses_.data(), local_, touched, watch).run();
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
  const int error =
      Pass(schedule_, parts, comm, requests_.data(), statuses_.data(), local_, touched, watch).run(operations_);
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
  if (forwards()) return MPI_ERR_ARG;  // what is sent is not what is received: the MPI underneath is to say so
  const std::int64_t count = segmented() ? passes(schedule_, send, receive) : 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t offset = i * schedule_.segment_bytes;
    const int error = clock ? run_parts(send, receive, comm, offset, touched, Watch(clock))
                            : run_parts(send, receive, comm, offset, touched, Unwatched());
    if (error) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace swapmeet
