#include "session/execution.hpp"

#include "engine/engine.hpp"
#include "mpi/outcome.hpp"
#include "session/native_start.hpp"

namespace swapmeet {

std::uint64_t bytes_sent(const Blocks& sent, Rank blocks, std::span<const Rank> to) {
  std::uint64_t all = 0;
  for (Rank i = 0; i < blocks; ++i)
    if (to.empty() || to[static_cast<std::size_t>(i)] != nobody) all += static_cast<std::uint64_t>(sent.bytes(i));
  return all;
}

void Execution::start(Exchange& exchange, Invocation call, MPI_Comm packing) {
  stage_ = Stage::exchanging;
  empty_ = is_empty(request_.collective, request_.sent(), request_.received());
  if (empty_) {
    failure_ = call.failure;
    return;
  }
  if (as_they_lie_ && &exchange == exchange_ && !may_be_on_device()) {
    send_->lie_at(request_.send->base());
    receive_->lie_at(request_.receive.base());
  } else {
    exchange_ = &exchange;
    packing_ = packing;
    const int failure = stage_blocks();
    if (!call.failure) call.failure = failure;
  }
  exchange.start(*send_, *receive_, call);
}

int Execution::stage_blocks() {
  Blocks send = request_.sent(), receive = request_.received();
  const Degrees& blocks = request_.blocks;
  send_.emplace(send);
  receive_.emplace(receive);
  as_they_lie_ = false;
  if (may_be_on_device()) [[unlikely]] {
    if (const int error = receive_host_copy_.take(receive, blocks.in, !request_.send || request_.neighbourhood))
      return error;
    if (request_.send)
      if (const int error = send_host_copy_.take(send, blocks.out, true)) return error;
    receive = receive_host_copy_.instead_of(receive);
    send = request_.send ? send_host_copy_.instead_of(send) : receive;
  }
  const Rank sent_blocks = request_.sent_blocks();
  for (const auto& [side, count] : {std::pair(&send, sent_blocks), std::pair(&receive, blocks.in)})
    if (const int error = side->committed() ? MPI_SUCCESS : Staging::check(*side, count, packing_)) return error;
  send_.emplace(send);
  receive_.emplace(receive);
  if (stages_send(*exchange_)) {
    if (!Staging::packs(send, sent_blocks)) return MPI_ERR_COUNT;
    if (!send_staging_.reserve(send, sent_blocks, request_.to())) return MPI_ERR_NO_MEM;
    if (const int error = send_staging_.pack(send, packing_)) return error;
    send_.emplace(send_staging_.blocks());
  }
  if (stages_receive(*exchange_)) {
    if (!Staging::packs(receive, blocks.in)) return MPI_ERR_COUNT;
    if (!receive_staging_.reserve(receive, blocks.in, request_.from())) return MPI_ERR_NO_MEM;
    receive_.emplace(receive_staging_.blocks());
  }
  as_they_lie_ = request_.send && request_.send->is_plain() && request_.receive.is_plain() && !may_be_on_device() &&
                 !stages_send(*exchange_) && !stages_receive(*exchange_);
  return MPI_SUCCESS;
}

int Execution::start_on_host(MPI_Comm comm) {
  const int error =
      start_native(request_.collective, request_.send ? &*request_.send : nullptr, request_.receive, comm, &on_host_);
  if (!error) stage_ = Stage::on_host;
  return error;
}

int Execution::advance() {
  if (stage_ == Stage::exchanging && empty_) return stage_ = Stage::idle, failure_;
  int error = stage_ == Stage::exchanging ? exchange_->advance() : test_host();
  if (error == unfinished) return error;
  if (!error && stage_ == Stage::exchanging) error = unstage_blocks();
  release();
  return error;
}

int Execution::unstage_blocks() {
  if (as_they_lie_) return MPI_SUCCESS;
  if (stages_receive(*exchange_))
    if (const int error = receive_staging_.unpack(receive_host_copy_.instead_of(request_.received()), packing_))
      return error;
  return receive_host_copy_.give_back();
}

int Execution::test_host() {
  int done = 0;
  const int error = test_again(on_host_, done);
  return error || done ? error : unfinished;
}

void Execution::release() {
  stage_ = Stage::idle;
  send_staging_.release();
  receive_staging_.release();
  send_host_copy_.release();
  receive_host_copy_.release();
}

std::int64_t Execution::staging_bytes(const Exchange& exchange) const {
  const Blocks send = request_.sent(), receive = request_.received();
  const bool sends = stages_send(exchange), receives = stages_receive(exchange);
  std::int64_t all = 0;
  for (Rank i = 0; sends && i < request_.sent_blocks(); ++i) all += send.bytes(i);
  for (Rank i = 0; receives && i < request_.blocks.in; ++i) all += receive.bytes(i);
  return all;
}

}  // namespace swapmeet
