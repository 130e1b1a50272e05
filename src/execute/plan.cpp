/// The executor: runs the steps of a schedule, and within a step keeps `window` messages in flight under its completion
/// rule. Messages without data are left out: both ends know the size of a block, so both leave it out.
#include "execute/plan.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace swapmeet {

namespace {

constexpr int tag = 1;

/// Whether MPI refused the arguments of a call, so that nothing was sent.
bool refused(int error) {
  int error_class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) PMPI_Error_class(error, &error_class);
  return error_class == MPI_ERR_TYPE || error_class == MPI_ERR_COUNT || error_class == MPI_ERR_BUFFER ||
         error_class == MPI_ERR_ARG;
}

/// One pass over the schedule: all of every block, or one segment of it.
template <bool segmented>
class Pass {
 public:
  Pass(const Schedule& schedule, const Blocks& send, const Blocks& receive, std::int64_t offset, MPI_Comm comm,
       MPI_Request* requests, bool& touched)
      : schedule_(schedule), send_(send), receive_(receive), offset_(offset), comm_(comm), requests_(requests),
        touched_(touched) {}

  int run() {
    for (const Step& step : schedule_.steps) {
      const int error = step.completion == Completion::all ? run_batches(step) : run_refilled(step);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }

 private:
  Part part(const Run& run) const {
    const Blocks& blocks = run.buffer == Buffer::send ? send_ : receive_;
    if constexpr (segmented) return blocks.segment(run.first, offset_, schedule_.segment_bytes);
    return blocks.whole(run.first);
  }
  Part part(const Message& message) const { return part(schedule_.runs[message.first_run]); }

  /// Starts one message, unless it has no data; `request` then stays what it was.
  template <bool is_send>
  [[gnu::always_inline]] int start(const Message& message, MPI_Request* request) {
    const Part blocks = part(message);
    if (blocks.count == 0) return MPI_SUCCESS;
    const int error = is_send ? isend(blocks, message.peer, tag, comm_, request)
                              : irecv(blocks, message.peer, tag, comm_, request);
    if (error == MPI_SUCCESS) touched_ = true;
    return error;
  }

  /// The copies of a step.
  int copy(const Step& step) {
    for (const Copy& copy : schedule_.copies_of(step)) {
      const Part from = part(copy.from), to = part(copy.to);
      if (from.count == 0) continue;
      const std::int64_t bytes = segmented ? from.count : from.count * send_.type().size;
      if (send_.type().contiguous && receive_.type().contiguous) {
        std::memcpy(to.address, from.address, static_cast<std::size_t>(bytes));
      } else if (const int error = sendrecv(from, schedule_.rank, to, schedule_.rank, tag, comm_)) {
        return error;
      }
    }
    return MPI_SUCCESS;
  }

  int run_batches(const Step& step) {
    const Message* send = schedule_.sends.data() + step.first_send;
    const Message* receive = schedule_.receives.data() + step.first_receive;
    const Message *const sends_end = send + step.send_count, *const receives_end = receive + step.receive_count;
    const std::ptrdiff_t window = step.window == 0 ? PTRDIFF_MAX : step.window;
    bool copied = false;
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
    return copied ? MPI_SUCCESS : copy(step);
  }

  /// `copies`: a step whose copies are to be made meanwhile, or nullptr.
  int exchange_pair(const Step* copies, const Message* send, const Message* receive) {
    const Part out = part(*send), in = part(*receive);
    if (out.count == 0 || in.count == 0) return exchange_batch(copies, Posting::receives_first, send, 1, receive, 1);
    const int error = sendrecv(out, send->peer, in, receive->peer, tag, comm_);
    touched_ |= !refused(error);
    return error != MPI_SUCCESS || !copies ? error : copy(*copies);
  }

  int exchange_batch(const Step* copies, Posting posting, const Message* send, std::ptrdiff_t sends,
                     const Message* receive, std::ptrdiff_t receives) {
    const Message *const sends_end = send + sends, *const receives_end = receive + receives;
    MPI_Request* next = requests_;
    int error = MPI_SUCCESS;
    const auto keep = [&] { next += *next != MPI_REQUEST_NULL; };
    if (posting == Posting::receives_first)
      for (; receive != receives_end && !error; ++receive, keep()) error = start<false>(*receive, cleared(next));
    while ((send != sends_end || receive != receives_end) && !error) {
      if (receive != receives_end) error = start<false>(*receive++, cleared(next)), keep();
      if (send != sends_end && !error) error = start<true>(*send++, cleared(next)), keep();
    }
    if (!error && copies) error = copy(*copies);
    return error ? error : PMPI_Waitall(static_cast<int>(next - requests_), requests_, MPI_STATUSES_IGNORE);
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
    const auto fill = [&](int slot) {
      return slot < window ? refill<false>(receives, next_receive, &requests_[slot])
                           : refill<true>(sends, next_send, &requests_[slot]);
    };
    const bool receives_first = step.posting == Posting::receives_first;
    for (int i = 0; i < 2 * window && !error; ++i) error = fill(receives_first ? i : i / 2 + i % 2 * window);
    if (!error) error = copy(step);
    while (!error) {
      int slot = MPI_UNDEFINED;
      error = wait_any(step, 2 * window, slot);
      if (error || slot == MPI_UNDEFINED) break;
      error = fill(slot);
    }
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
  const Blocks &send_, &receive_;
  std::int64_t offset_;
  MPI_Comm comm_;
  MPI_Request* requests_;
  bool& touched_;
};

/// Passes that this rank takes part in: enough for its largest block.
std::int64_t passes(const Schedule& schedule, const Blocks& send, const Blocks& receive) {
  std::int64_t largest = 0;
  for (Rank i = 0; i < schedule.ranks; ++i) largest = std::max({largest, send.bytes(i), receive.bytes(i)});
  return (largest + schedule.segment_bytes - 1) / schedule.segment_bytes;
}

}  // namespace

Plan::Plan(const Spec& spec, Schedule schedule) : spec_(spec), schedule_(std::move(schedule)) {
  std::uint32_t widest = 0;
  for (const Step& step : schedule_.steps) widest = std::max(widest, step.in_flight());
  requests_.assign(2 * std::size_t{widest}, MPI_REQUEST_NULL);
}

int Plan::run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched) {
  touched = false;
  MPI_Request* const requests = requests_.data();
  if (!segmented()) return Pass<false>(schedule_, send, receive, 0, comm, requests, touched).run();
  const std::int64_t count = passes(schedule_, send, receive);
  for (std::int64_t pass = 0; pass < count; ++pass) {
    const std::int64_t offset = pass * schedule_.segment_bytes;
    if (const int error = Pass<true>(schedule_, send, receive, offset, comm, requests, touched).run()) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace swapmeet
