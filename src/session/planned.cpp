#include "session/planned.hpp"

#include <algorithm>

#include "engine/engine.hpp"

#include "session/context.hpp"
#include "session/native_start.hpp"

namespace swapmeet {

Planned::Planned(Request request, Executor executor, MPI_Comm comm, bool own_comm, std::uint16_t exchanges,
                 double expected_seconds)
    : request_(std::move(request)), executor_(std::move(executor)), comm_(comm), own_comm_(own_comm),
      needs_bytes_(executor_.exchange && executor_.exchange->needs_bytes()), exchanges_(exchanges),
      expected_seconds_(expected_seconds), spec_text_(to_text(executor_.spec)) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  inter ? PMPI_Comm_remote_size(comm, &ranks_) : PMPI_Comm_size(comm, &ranks_);
}

Planned::~Planned() {
  int finalised = 0;
  PMPI_Finalized(&finalised);
  executor_.exchange.reset();
  executor_.neighbours.reset();
  context().share_bytes -= executor_.share_bytes;
  if (own_comm_ && !finalised) PMPI_Comm_free(&comm_);
}

int Planned::start() {
  if (!executor_.exchange) {
    const int error = start_native();
    if (error) stage_ = Stage::idle;
    return error;
  }
  stage_ = Stage::exchanging;
  const int failure = stage_blocks();
  executor_.exchange->start(*send_, *receive_, {comm_, ++exchanges_, failure, false});
  return MPI_SUCCESS;
}

int Planned::stage_blocks() {
  Blocks send = sent(), receive = request_.receive.blocks();
  send_.emplace(send);
  receive_.emplace(receive);
  if (may_be_on_device()) [[unlikely]] {
    if (const int error = receive_host_copy_.take(receive, ranks_, !request_.send)) return error;
    if (request_.send)
      if (const int error = send_host_copy_.take(send, ranks_, true)) return error;
    receive = receive_host_copy_.instead_of(receive);
    send = request_.send ? send_host_copy_.instead_of(send) : receive;
  }
  for (const Blocks* side : {&send, &receive})
    if (const int error = side->committed() ? MPI_SUCCESS : Staging::check(*side, ranks_, comm_)) return error;
  send_.emplace(send);
  receive_.emplace(receive);
  if (stages_send()) {
    if (!Staging::packs(send, ranks_)) return MPI_ERR_COUNT;
    if (!send_staging_.reserve(send, ranks_)) return MPI_ERR_NO_MEM;
    if (const int error = send_staging_.pack(send, comm_)) return error;
    send_.emplace(send_staging_.blocks());
  }
  if (stages_receive()) {
    if (!Staging::packs(receive, ranks_)) return MPI_ERR_COUNT;
    if (!receive_staging_.reserve(receive, ranks_)) return MPI_ERR_NO_MEM;
    receive_.emplace(receive_staging_.blocks());
  }
  return MPI_SUCCESS;
}

int Planned::start_native() {
  stage_ = Stage::native;
  return swapmeet::start_native(request_.collective, request_.send ? &*request_.send : nullptr, request_.receive, comm_,
                                &waited_for_);
}

void Planned::advance() {
  if (stage_ == Stage::idle) return;
  const int error = stage_ == Stage::exchanging ? exchange() : test_native();
  if (error == unfinished) return;
  release();
  result_ = error;
}

void Planned::release() {
  stage_ = Stage::idle;
  send_staging_.release();
  receive_staging_.release();
  send_host_copy_.release();
  receive_host_copy_.release();
}

int Planned::exchange() {
  const int error = executor_.exchange->advance();
  return error ? error : unstage_blocks();
}

int Planned::unstage_blocks() {
  if (stages_receive())
    if (const int error = receive_staging_.unpack(receive_host_copy_.instead_of(request_.receive.blocks()), comm_))
      return error;
  return receive_host_copy_.give_back();
}

int Planned::test_native() {
  int done = 0;
  const int error = PMPI_Test(&waited_for_, &done, MPI_STATUS_IGNORE);
  return error || done ? error : unfinished;
}

std::optional<SentTraffic> Planned::traffic() const {
  if (!executor_.exchange) return std::nullopt;
  return executor_.exchange->traffic(sent());
}

std::int64_t Planned::scratch_bytes() const {
  if (!executor_.exchange) return 0;
  const Blocks send = sent(), receive = request_.receive.blocks();
  std::int64_t bytes = executor_.exchange->peak_bytes();
  for (Rank i = 0; i < ranks_; ++i)
    bytes += (stages_send() ? send.bytes(i) : 0) + (stages_receive() ? receive.bytes(i) : 0);
  if (request_.collective == Collective::alltoall)
    bytes += (executor_.exchange->working_blocks() - 2 * std::int64_t{ranks_}) * send.bytes(0);
  return bytes;
}

void UnderWay::expect() {
  const std::lock_guard lock(mutex_);
  plans_.reserve(++expected_);
}

int UnderWay::start(Planned& plan) {
  const std::lock_guard lock(plan.mutex());
  if (plan.under_way()) return MPI_ERR_REQUEST;
  if (const int error = plan.start()) return error;
  plan.advance();
  if (!plan.under_way()) return MPI_SUCCESS;
  const std::lock_guard all(mutex_);
  plans_.push_back(&plan);
  return MPI_SUCCESS;
}

/// Moves a plan whose mutex the caller holds.
void UnderWay::move(Planned& plan) {
  if (!plan.under_way()) return;
  plan.advance();
  if (plan.under_way()) return;
  const std::lock_guard all(mutex_);
  std::erase(plans_, &plan);
}

/// Those that another thread moves are left to it.
void UnderWay::move_others(const Planned& plan) {
  for (std::size_t i = 0;; ++i) {
    Planned* other = nullptr;
    {
      const std::lock_guard all(mutex_);
      for (; i < plans_.size() && !other; ++i)
        if (plans_[i] != &plan && plans_[i]->mutex().try_lock()) other = plans_[i--];
    }
    if (!other) return;
    move(*other);
    other->mutex().unlock();
  }
}

bool UnderWay::advance(Planned& plan, int& error) {
  move_others(plan);
  const std::lock_guard lock(plan.mutex());
  move(plan);
  if (plan.under_way()) return false;
  error = plan.result();
  return true;
}

bool UnderWay::has(Planned& plan) {
  const std::lock_guard lock(plan.mutex());
  return plan.under_way();
}

}  // namespace swapmeet
