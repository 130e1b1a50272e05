#include "observe/observer.hpp"

#include <cerrno>
#include <cstring>

#include "observe/phases.hpp"

namespace swapmeet {

namespace {

PhaseTimes since(const PhaseTimes& before, PhaseTimes times) {
  for (std::size_t phase = 0; phase < times.size(); ++phase) times[phase] -= before[phase];
  return times;
}

}  // namespace

void Observer::call_begins(Collective collective, std::uint64_t bytes_sent) {
  if (call_state_) call_state_->call_begins(collective, static_cast<std::int64_t>(bytes_sent));
  before_ = times_;
  phase_ = CallPhase::other;
  step_ = CallEvent::no_step;
  last_ns_ = now_ns();
  if (trace_) trace_->begin_ns = last_ns_;
}

void Observer::call_decided(const Tally& tally, std::uint64_t bytes_sent, Doing now) {
  CallState::set(call_state_->tally, static_cast<CallState::Word>(reinterpret_cast<std::uintptr_t>(&tally)));
  CallState::set(call_state_->bytes, static_cast<CallState::Word>(bytes_sent));
  call_state_->does(now);
}

void Observer::call_goes_to_host() {
  enter(CallPhase::native);
  if (call_state_) call_state_->does(Doing::host);
}

PhaseTimes Observer::stop() {
  charge(phase_);
  return since(before_, times_);
}

void Observer::call_ends() {
  if (call_state_) call_state_->call_ends();
}

void Observer::charge(CallPhase phase) {
  const std::int64_t now = now_ns();
  times_[static_cast<std::size_t>(phase)] += std::chrono::nanoseconds(now - last_ns_);
  if (trace_) trace_->add_span({.time_ns = now, .step = step_, .phase = static_cast<std::uint8_t>(phase)}, last_ns_);
  last_ns_ = now;
}

void Observer::step(std::size_t index) {
  step_ = static_cast<std::uint32_t>(index);
  if (call_state_) call_state_->steps(index);
}

void Observer::message_begins(const void* message, Direction direction, Rank peer, std::int64_t bytes, int tag) {
  CallEvent event{.bytes = bytes,
                  .message = reinterpret_cast<std::uintptr_t>(message),
                  .step = step_,
                  .peer = peer,
                  .tag = tag,
                  .kind = CallEvent::Kind::begins,
                  .direction = direction};
  if (trace_) event.time_ns = now_ns(), trace_->add(event);
  if (call_state_) call_state_->message_begins(event);
}

void Observer::message_is_done(const void* message, std::int64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(message);
  if (trace_)
    trace_->add(
        {.time_ns = now_ns(), .bytes = bytes, .message = address, .step = step_, .kind = CallEvent::Kind::done});
  if (call_state_) call_state_->message_is_done(address);
}

std::optional<PhaseTimes> Observer::end() {
  if (!begun_) return std::nullopt;
  return since(*std::exchange(begun_, std::nullopt), times_);
}

void Observer::record(std::unique_ptr<Trace> trace, std::FILE* file) {
  trace_ = std::move(trace);
  file_.reset(file);
}

std::string Observer::written() {
  trace_.reset();
  if (!file_) return "";
  const bool failed = std::ferror(file_.get()) != 0;  // by now errno may be that of another call
  if (std::fclose(file_.release()) != 0) return std::strerror(errno);
  return failed ? "a write has failed" : "";
}

std::int64_t Watch::bytes_of(const Part& part) {
  MPI_Count bytes = 0;  // more than an int holds, of one element that stands for many (mpi/large.cpp)
  return PMPI_Type_size_x(part.type, &bytes) == MPI_SUCCESS ? part.count * bytes : 0;
}

std::int64_t Watch::bytes_in(MPI_Status& status) {
  MPI_Count bytes = 0;
  return PMPI_Get_elements_x(&status, MPI_BYTE, &bytes) == MPI_SUCCESS ? bytes : CallEvent::as_begun;
}

}  // namespace swapmeet
