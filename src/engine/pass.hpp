/// The executor: runs the steps of a schedule, and within a step keeps `window` messages in flight under its completion
/// rule. Messages without data are left out: both ends know the size of a block, so both leave it out.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/mixed_step.hpp"
#include "engine/operations.hpp"
#include "engine/waiting.hpp"

namespace swapmeet {

/// One exchange. `Parts`: BlockParts or RowParts. `Waiting`: Blocking or Nonblocking; where it is the latter, run() may
/// return `unfinished`, and goes on where it was when it is called again. `Watching`: Watch or Unwatched.
template <class Parts, class Waiting, class Watching>
class Pass {
 public:
  /// `requests` and `statuses`: as many as the widest step has messages. `touched` becomes true when something is sent.
  Pass(const Schedule& schedule, const Parts& parts, MPI_Comm comm, MPI_Request* requests, MPI_Status* statuses,
       Local& local, bool& touched, Watching watch)
      : schedule_(schedule), parts_(parts), comm_(comm), requests_(requests), statuses_(statuses), local_(local),
        touched_(touched), watch_(watch) {}

  /// By the list of operations, which is as the schedule. For rows, and blocking.
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
    do {
      for (; step_ < schedule_.steps.size(); ++step_) {
        watch_.step(step_);
        if (const int error = run(schedule_.steps[step_])) return error;
      }
      step_ = 0;
    } while (parts_.next_segment());
    return outcome_.received_wrong();
  }

 private:
  std::size_t index_of(const Step& step) const { return static_cast<std::size_t>(&step - schedule_.steps.data()); }

  int run(const Step& step) {
    if (step.send_count + step.receive_count == 0) return copy(step);
    if constexpr (Waiting::waits)
      if (local_.neighbours)
        return MixedStep(schedule_, step, parts_, comm_, *local_.neighbours, local_.single_copy, local_.slots, outcome_,
                         touched_, watch_)
            .run();
    const int error = step.completion == Completion::all ? run_batches(step) : run_refilled(step);
    if (error == unfinished) return error;
    next_send_ = next_receive_ = 0;
    begun_ = false;
    return error;
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
    const auto sends = schedule_.sends_of(step), receives = schedule_.receives_of(step);
    const std::size_t window = step.window == 0 ? SIZE_MAX : static_cast<std::size_t>(step.window);
    while (in_flight_ > 0 || next_send_ < sends.size() || next_receive_ < receives.size()) {
      if (in_flight_ == 0) {
        const auto out = sends.subspan(next_send_, std::min(window, sends.size() - next_send_));
        const auto in = receives.subspan(next_receive_, std::min(window, receives.size() - next_receive_));
        const Step* const copies = begun_ || step.copy_count == 0 ? nullptr : &step;
        begun_ = true;
        const bool pair = Waiting::waits && step.window == 1 && out.size() == in.size();
        const int error = pair ? exchange_pair(copies, out, in) : start_batch(copies, step.posting, out, in);
        if (error != MPI_SUCCESS) return error;
        next_send_ += out.size();
        next_receive_ += in.size();
      }
      if (in_flight_ > 0)
        if (const int error = finish_batch()) return error;
    }
    return MPI_SUCCESS;
  }

  /// One message each way. `copies`: a step whose copies are to be made meanwhile, or nullptr.
  int exchange_pair(const Step* copies, std::span<const Message> sends, std::span<const Message> receives) {
    const Message &send = sends[0], &receive = receives[0];
    const Part out = parts_.template of<true>(send), in = parts_.template of<false>(receive);
    if (out.count == 0 || in.count == 0) return start_batch(copies, Posting::receives_first, sends, receives);
    const int error = swap(out, send.peer, in, receive.peer);
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

  int start_batch(const Step* copies, Posting posting, std::span<const Message> sends,
                  std::span<const Message> receives) {
    MPI_Request* const in = requests_;
    MPI_Request* const out = requests_ + receives.size();
    std::size_t received = 0, sent = 0;
    int error = MPI_SUCCESS;
    const auto phase = watch_.during(CallPhase::transfer);
    if (posting == Posting::receives_first)
      for (; received < receives.size() && !error; ++received)
        error = start<false>(receives[received], cleared(in + received));
    while ((received < receives.size() || sent < sends.size()) && !error) {
      if (received < receives.size()) {
        error = start<false>(receives[received], cleared(in + received));
        ++received;
      }
      if (sent < sends.size() && !error) {
        error = start<true>(sends[sent], cleared(out + sent));
        ++sent;
      }
    }
    if (!error && copies) error = copy(*copies);
    if (error) return abandon({in, received}, {out, sent}), error;
    in_flight_ = received + sent;
    return MPI_SUCCESS;
  }

  int finish_batch() {
    const std::span<MPI_Request> all(requests_, in_flight_);
    const auto phase = watch_.during(CallPhase::wait);
    const int error = Waiting::all(outcome_, all, statuses_);
    if (error == unfinished) return error;
    watch_.done(all);
    in_flight_ = 0;
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
    const std::size_t window = step.in_flight();
    const std::span<MPI_Request> slots(requests_, 2 * window);
    int error = MPI_SUCCESS;
    const auto phase = watch_.during(CallPhase::transfer);
    const auto fill = [&](std::size_t slot) {
      return slot < window ? refill<false>(receives, next_receive_, &slots[slot])
                           : refill<true>(sends, next_send_, &slots[slot]);
    };
    if (!begun_) {
      begun_ = true;
      const bool receives_first = step.posting == Posting::receives_first;
      std::ranges::fill(slots, MPI_REQUEST_NULL);
      for (std::size_t i = 0; i < slots.size() && !error; ++i)
        error = fill(receives_first ? i : i / 2 + i % 2 * window);
      if (!error) error = copy(step);
    }
    const int patience = step.completion == Completion::any ? 16 : 1024;  // polls before others may have the core
    while (!error) {
      int index = MPI_UNDEFINED;
      phase.then(CallPhase::wait);
      error = Waiting::any(slots, patience, index);
      if (error == unfinished) return error;
      if (error) error = outcome_.noted(error);
      if (error || index == MPI_UNDEFINED) break;
      watch_.done(&slots[static_cast<std::size_t>(index)]);
      phase.then(CallPhase::transfer);
      error = fill(static_cast<std::size_t>(index));
    }
    if (error) abandon(slots.first(window), slots.last(window));
    return error;
  }

  const Schedule& schedule_;
  Parts parts_;
  MPI_Comm comm_;
  MPI_Request* requests_;
  MPI_Status* statuses_;
  Local& local_;
  bool& touched_;
  Outcome outcome_;
  std::size_t step_ = 0;                          ///< under way
  std::size_t next_send_ = 0, next_receive_ = 0;  ///< messages of it that have not been started
  std::size_t in_flight_ = 0;                     ///< requests of the batch that is waited for
  bool begun_ = false;                            ///< messages of the step have been started
  [[no_unique_address]] Watching watch_;
};

}  // namespace swapmeet
