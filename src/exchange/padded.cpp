#include "exchange/padded.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "exchange/plan.hpp"
#include "model/threshold.hpp"
#include "mpi/mpi.hpp"
#include "mpi/outcome.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

bool Padded::reserve(std::int64_t room, Team* team) {
  room_ = room;
  stride_ = room + (plan_ ? 0 : padded_flag_bytes);
  if (room <= held_) return true;
  const bool mine = out_.reserve(ranks_ * stride_) && in_.reserve(ranks_ * stride_);
  held_ = most_of_any_rank(!mine, *team) == 0 ? room : 0;  // memory that was reserved before has been freed
  if (held_ == 0) return false;
  peak_ = std::max(peak_, 2 * ranks_ * room);
  return true;
}

int Padded::advance(const Blocks& send, const Blocks& receive, const Invocation& call, Failure& failure) {
  if (room_ == 0) return MPI_SUCCESS;
  if (plan_ && plan_->broken()) return MPI_ERR_OTHER;  // and there is no memory any more
  int error = unfinished;
  if (!begun_) {
    const auto phase = Watch(call.observer).during(CallPhase::pack);
    for (Rank i = 0; i < ranks_ && call.failure == MPI_SUCCESS; ++i) copy(send, i, true);
    for (Rank i = 0; i < ranks_ && !plan_; ++i) *flag(out_, i) = call.failure != MPI_SUCCESS;
    phase.then(CallPhase::other);
    error = begin(call);
    begun_ = true;
  }
  if (error == unfinished) error = plan_->advance();
  if (error == unfinished) return error;
  begun_ = false;
  if (error && plan_ && !plan_->broken())
    failure.fail(std::exchange(error, MPI_SUCCESS));  // all ranks that depend on it know of the error
  const auto phase = Watch(call.observer).during(CallPhase::unpack);
  for (Rank i = 0; i < ranks_ && !error && !plan_; ++i)
    if (*flag(in_, i)) failure.received_wrong(MPI_ERR_TRUNCATE, false);
  for (Rank i = 0; i < ranks_ && !error && failure.error == MPI_SUCCESS; ++i) copy(receive, i, false);
  // All ranks must free the memory or keep it, because the next reserve() is collective where it must grow.
  const bool frees = call.waits && held_ * ranks_ > Memory::kept_bytes;
  if (error && (plan_ || frees)) {  // MPI may still read and write the memory; a broken plan needs none
    out_.lose();
    in_.lose();
  } else if (frees) {
    out_.release();
    in_.release();
  }
  if (frees) held_ = 0;
  return error;
}

/// Copies a block into or out of the padded buffers. The rank's own block and blocks that are sent directly are left
/// out.
void Padded::copy(const Blocks& blocks, Rank i, bool in) {
  const std::int64_t bytes = i == rank_ || blocks.bytes(i) > room_ ? 0 : blocks.bytes(i);
  char *const ours = (in ? out_ : in_).memory() + i * stride_, *const theirs = blocks.address(i);
  if (bytes > 0) std::memcpy(in ? ours : theirs, in ? theirs : ours, static_cast<std::size_t>(bytes));
  copied(bytes);
}

/// The flag behind each block that the host MPI exchanges. It tells the receiver that the source has failed and sends
/// no data.
char* Padded::flag(const Memory& memory, Rank i) const { return memory.memory() + i * stride_ + room_; }

int Padded::begin(const Invocation& call) {
  if (plan_) {
    send_.emplace(out_.memory(), room_, byte_type());
    receive_.emplace(in_.memory(), room_, byte_type());
    return plan_->start(*send_, *receive_, call);
  }
  const auto phase = Watch(call.observer).during(CallPhase::native);
  const int count = static_cast<int>(stride_);
  const MPI_Comm comm = call.team->user_comm();
  const ErrorsReturn quiet(comm);
  return quiet.error_of(PMPI_Alltoall(out_.memory(), count, MPI_BYTE, in_.memory(), count, MPI_BYTE, comm));
}

}  // namespace swapmeet
