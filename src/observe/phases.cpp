#include "observe/phases.hpp"

namespace swapmeet {

void PhaseClock::begin() {
  phase_ = CallPhase::other;
  last_ = Trace::Clock::now();
  if (trace_) trace_->call_begins(last_);
}

void PhaseClock::charge(CallPhase phase) {
  const Trace::Time now = Trace::Clock::now();
  times_[static_cast<std::size_t>(phase)] += now - last_;
  if (trace_) trace_->spent(static_cast<std::uint8_t>(phase), last_, now);
  last_ = now;
}

void PhaseClock::step(std::size_t index) {
  if (trace_) trace_->step(index);
  if (post_) post_->steps(index);
}

void PhaseClock::begins(const void* message, Direction direction, Rank peer, std::int64_t bytes, int tag) {
  if (trace_) trace_->begins(message, direction, peer, bytes, tag);
  if (post_) post_->begins(message, direction, peer, bytes);
}

void PhaseClock::done(const void* message, std::int64_t bytes) {
  if (trace_) trace_->done(message, bytes);
  if (post_) post_->done(message);
}

std::int64_t Watch::bytes_of(const Part& part) {
  int bytes = 0;
  return PMPI_Type_size(part.type, &bytes) == MPI_SUCCESS ? part.count * bytes : 0;
}

std::int64_t Watch::bytes_in(MPI_Status& status) {
  MPI_Count bytes = 0;
  return PMPI_Get_elements_x(&status, MPI_BYTE, &bytes) == MPI_SUCCESS ? bytes : Trace::as_begun;
}

}  // namespace swapmeet
