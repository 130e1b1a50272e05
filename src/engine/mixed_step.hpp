/// A step some of whose messages stay within the node: these go by a transport of our own, the others by MPI, side by
/// side and under the same window and completion rule.
#pragma once

#include <algorithm>
#include <vector>

#include "node/neighbours.hpp"
#include "mpi/outcome.hpp"
#include "engine/parts.hpp"
#include "observe/phases.hpp"

namespace swapmeet {

/// What the messages in flight of one step need, kept from call to call: first `window` slots for receives, then as
/// many for sends. A slot has an MPI request or a transfer, or is free.
struct Slots {
  std::span<MPI_Request> requests;
  std::vector<Transfer> transfers;         ///< `link` is null: none
  std::vector<std::vector<Piece>> pieces;  ///< of the transfers
};

/// How messages within the node travel.
struct Local {
  Neighbours* neighbours = nullptr;  ///< nullptr: as all others
  SingleCopy single_copy{};
  Slots slots{};
};

template <class Parts, class Watching>
class MixedStep {
 public:
  /// Messages within the node are offered for a `single_copy` as it says.
  MixedStep(const Schedule& schedule, const Step& step, const Parts& parts, MPI_Comm comm, Neighbours& neighbours,
            const SingleCopy& single_copy, Slots& slots, Outcome& outcome, bool& touched, Watching watch)
      : schedule_(schedule), step_(step), parts_(parts), comm_(comm), neighbours_(neighbours),
        single_copy_(single_copy), slots_(slots), outcome_(outcome), touched_(touched), watch_(watch),
        sends_(schedule.sends_of(step)), receives_(schedule.receives_of(step)) {}

  int run() {
    const std::size_t window = step_.in_flight();
    sliding_ = step_.completion != Completion::all;
    bool copied = false;
    int error = MPI_SUCCESS;
    while (!error && (next_send_ < sends_.size() || next_receive_ < receives_.size())) {
      begin(window);
      const auto phase = watch_.during(CallPhase::transfer);
      const bool receives_first = step_.posting == Posting::receives_first;
      for (std::size_t i = 0; i < 2 * window && !error; ++i) error = fill(receives_first ? i : i / 2 + i % 2 * window);
      if (!copied && !error) error = copy();
      copied = true;
      phase.then(CallPhase::wait);
      if (!error) error = finish();
    }
    if (error) give_up();
    return error;
  }

 private:
  void begin(std::size_t window) {
    window_ = window;
    active_ = requests_ = 0;
    std::fill_n(slots_.requests.begin(), 2 * window, MPI_REQUEST_NULL);
    for (std::size_t slot = 0; slot < 2 * window; ++slot) slots_.transfers[slot].link = nullptr;
  }

  /// Starts the next message that has data in a free slot, if there is one left.
  int fill(std::size_t slot) {
    return slot < window_ ? fill<false>(slot, receives_, next_receive_) : fill<true>(slot, sends_, next_send_);
  }

  template <bool is_send>
  int fill(std::size_t slot, std::span<const Message> messages, std::size_t& next) {
    while (next < messages.size()) {
      const Message& message = messages[next++];
      if (NodeLink* const link = neighbours_.link(message.peer)) {
        start_transfer<is_send>(slot, message, *link);
        if (slots_.transfers[slot].link) return MPI_SUCCESS;
      } else if (const Part part = parts_.template of<is_send>(message); part.count > 0) {
        return start_message<is_send>(slot, part, message.peer);
      }
      if (!sliding_) return MPI_SUCCESS;  // a batch counts messages that are done at once, or have no data
    }
    return MPI_SUCCESS;
  }

  template <bool is_send>
  void start_transfer(std::size_t slot, const Message& message, NodeLink& link) {
    std::vector<Piece>& pieces = slots_.pieces[slot];
    pieces.clear();
    const std::size_t bytes = parts_.pieces(message, pieces);
    if (bytes == 0) return;
    watch_.begins(&slots_.requests[slot], is_send ? Direction::send : Direction::receive, message.peer, bytes,
                  parts_tag);
    Transfer& transfer = slots_.transfers[slot];
    transfer = is_send ? Transfer::send(link, pieces, bytes, single_copy_) : Transfer::receive(link, pieces, bytes);
    ++active_;
    if constexpr (is_send) {
      touched_ = true;
      advance(slot);
    }
  }

  template <bool is_send>
  int start_message(std::size_t slot, const Part& part, Rank peer) {
    MPI_Request* const request = &slots_.requests[slot];
    watch_.begins(request, is_send ? Direction::send : Direction::receive, peer, part, parts_tag);
    const int error =
        is_send ? isend(part, peer, parts_tag, comm_, request) : irecv(part, peer, parts_tag, comm_, request);
    if (error) return error;
    if constexpr (is_send) touched_ = true;
    ++active_;
    ++requests_;
    return MPI_SUCCESS;
  }

  int copy() {
    const auto phase = watch_.during(phase_of(step_.purpose));
    for (const Copy& copy : schedule_.copies_of(step_))
      if (const int error = parts_.copy(copy, comm_, outcome_)) return error;
    return MPI_SUCCESS;
  }

  /// Returns whether anything has moved. A transfer that is done gives its slot back.
  bool advance(std::size_t slot) {
    Transfer& transfer = slots_.transfers[slot];
    if (!transfer.link) return false;
    const bool moved = neighbours_.advance(transfer);
    if (!transfer.done()) return moved;
    if (transfer.cut) outcome_.noted(MPI_ERR_TRUNCATE);
    watch_.done(&slots_.requests[slot]);
    transfer.link = nullptr;
    --active_;
    return true;
  }

  /// Until all slots are free, and in a sliding window no message is left to fill them with.
  int finish() {
    const std::size_t count = 2 * window_;
    while (active_ > 0) {
      bool moved = false;
      for (std::size_t slot = 0; slot < count; ++slot) {
        if (!slots_.transfers[slot].link) continue;
        moved |= advance(slot);
        if (slots_.transfers[slot].link || !sliding_) continue;
        if (const int error = fill(slot)) return error;
      }
      if (requests_ > 0)
        if (const int error = finish_request(moved)) return error;
      if (active_ > 0) neighbours_.turn(moved);
      watch_.turned(moved);
    }
    return MPI_SUCCESS;
  }

  int finish_request(bool& moved) {
    int index = MPI_UNDEFINED, flag = 0;
    const int count = static_cast<int>(2 * window_);
    const bool alone = simulated && requests_ == active_;  // then polls would only take time
    if (alone) settle();
    const int error = alone ? PMPI_Waitany(count, slots_.requests.data(), &index, MPI_STATUS_IGNORE)
                            : PMPI_Testany(count, slots_.requests.data(), &index, &flag, MPI_STATUS_IGNORE);
    flag |= alone;
    if (error && outcome_.noted(error)) return error;
    if ((!error && !flag) || index == MPI_UNDEFINED) return MPI_SUCCESS;
    watch_.done(&slots_.requests[static_cast<std::size_t>(index)]);
    moved = true;
    --active_;
    --requests_;
    return sliding_ ? fill(static_cast<std::size_t>(index)) : MPI_SUCCESS;
  }

  void give_up() {
    const std::span<MPI_Request> all(slots_.requests);
    abandon(all.first(window_), all.subspan(window_, window_));
    neighbours_.abandon(touched_);
  }

  const Schedule& schedule_;
  const Step& step_;
  const Parts& parts_;
  MPI_Comm comm_;
  Neighbours& neighbours_;
  SingleCopy single_copy_;
  Slots& slots_;
  Outcome& outcome_;
  bool& touched_;
  [[no_unique_address]] Watching watch_;
  std::span<const Message> sends_, receives_;
  std::size_t next_send_ = 0, next_receive_ = 0, window_ = 0;
  std::size_t active_ = 0, requests_ = 0;  ///< slots in use; of these, with MPI requests
  bool sliding_ = false;
};

}  // namespace swapmeet
