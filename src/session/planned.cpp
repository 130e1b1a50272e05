#include "session/planned.hpp"

#include <algorithm>

#include "session/native_start.hpp"

namespace swapmeet {

Planned::Planned(Request request, Executor executor, MPI_Comm comm, bool own_comm, std::int64_t scratch_limit_bytes,
                 double expected_seconds)
    : request_(std::move(request)), executor_(std::move(executor)), comm_(comm), own_comm_(own_comm),
      needs_bytes_(executor_.varying || (executor_.plan && executor_.plan->needs_bytes())),
      scratch_limit_bytes_(scratch_limit_bytes), expected_seconds_(expected_seconds),
      spec_text_(to_text(executor_.spec)) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  inter ? PMPI_Comm_remote_size(comm, &ranks_) : PMPI_Comm_size(comm, &ranks_);
}

Planned::~Planned() {
  int finalised = 0;
  PMPI_Finalized(&finalised);
  if (own_comm_ && !finalised) PMPI_Comm_free(&comm_);
}

int Planned::start() {
  const int error = begin();
  if (error) release();
  return error;
}

int Planned::begin() {
  if (!executor_.plan && !executor_.varying) return start_native();
  if (const int error = stage_blocks()) return error;
  if (!executor_.varying) {
    stage_ = Stage::exchanging;
    return executor_.plan->start(*send_, *receive_, comm_);
  }
  stage_ = Stage::agreeing;
  return executor_.varying->start_agreement(*send_, *receive_, scratch_limit_bytes_, comm_, &waited_for_);
}

int Planned::stage_blocks() {
  Blocks send = sent(), receive = request_.receive.blocks();
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
  int error = MPI_SUCCESS;
  if (stage_ == Stage::agreeing) error = agree();
  if (!error && stage_ == Stage::exchanging) error = exchange();
  if (!error && stage_ == Stage::native) error = test_native();
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

int Planned::agree() {
  if (const int error = test_native()) return error;
  if (!executor_.varying->concluded()) executor_.varying->send_all_straight();
  stage_ = Stage::exchanging;
  executor_.varying->start(*send_, *receive_, comm_);
  return MPI_SUCCESS;
}

int Planned::exchange() {
  Varying* const varying = executor_.varying.get();
  const int error = varying ? varying->advance() : executor_.plan->advance();
  if (error) return error;
  if (varying) last_traffic_ = varying->take_traffic();
  return unstage_blocks();
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
  if (executor_.varying) return last_traffic_;
  if (!executor_.plan) return std::nullopt;
  const Blocks send = sent();
  if (request_.collective == Collective::alltoall) return executor_.plan->traffic(send.bytes(0));
  return executor_.plan->traffic(send);
}

std::int64_t Planned::scratch_bytes() const {
  const Blocks send = sent(), receive = request_.receive.blocks();
  std::int64_t bytes = 0;
  const bool native = !executor_.plan && !executor_.varying;
  for (Rank i = 0; i < ranks_ && !native; ++i)
    bytes += (stages_send() ? send.bytes(i) : 0) + (stages_receive() ? receive.bytes(i) : 0);
  if (executor_.varying) bytes += executor_.varying->peak_bytes();
  if (executor_.plan && request_.collective == Collective::alltoall)
    bytes += executor_.plan->scratch_blocks() * send.bytes(0);
  return bytes;
}

int UnderWay::start(Planned& plan) {
  const std::lock_guard lock(mutex_);
  if (plan.under_way()) return MPI_ERR_REQUEST;
  if (const int error = plan.start()) return error;
  plan.advance();
  if (plan.under_way()) plans_.push_back(&plan);
  return MPI_SUCCESS;
}

bool UnderWay::advance(Planned& plan, int& error) {
  const std::lock_guard lock(mutex_);
  std::erase_if(plans_, [](Planned* other) {
    other->advance();
    return !other->under_way();
  });
  if (plan.under_way()) return false;
  error = plan.result();
  return true;
}

bool UnderWay::has(const Planned& plan) {
  const std::lock_guard lock(mutex_);
  return plan.under_way();
}

}  // namespace swapmeet
