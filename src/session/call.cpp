#include "session/call.hpp"

#include "choose/limits.hpp"
#include "engine/engine.hpp"
#include "mpi/outcome.hpp"
#include "session/communicator.hpp"
#include "session/native_start.hpp"

namespace swapmeet {

std::uint64_t Arguments::sent_bytes() const {
  std::uint64_t all = 0;
  const std::span<const Rank> peers = to();
  for (Rank i = 0; i < sent_blocks(); ++i)
    if (peers.empty() || peers[static_cast<std::size_t>(i)] != nobody) all += static_cast<std::uint64_t>(send.bytes(i));
  return all;
}

void CopyMemory::release() {
  send_staging.release();
  receive_staging.release();
  send_host_copy.release();
  receive_host_copy.release();
}

void CopyMemory::lose() {
  send_staging.lose();
  receive_staging.lose();
  send_host_copy.lose();
  receive_host_copy.lose();
}

const char* exceeded_limit(const Plan& plan, bool in_place, std::int64_t block_bytes, const Options& options) {
  const bool may_stage = in_place || plan.needs() != Exchange::Needs::nothing;
  if (may_stage && block_bytes > 0 && !within_scratch_limit(plan.working_blocks(), block_bytes, options))
    return too_much_memory;
  if (plan.makes_types() && block_bytes > INT_MAX) return "pack=datatype cannot hold blocks of more than 2 GiB";
  return nullptr;
}

/// Why `decision` cannot serve this call; nullptr: it can.
const char* Call::exceeded_limit_of(const Communicator& communicator, const Decision& decision) const {
  const std::int64_t block_bytes = arguments_.block_bytes();
  if (block_bytes <= decision.unchecked_bytes) [[likely]]
    return nullptr;
  return exceeded_limit(*decision.plan, arguments_.in_place, block_bytes, communicator.options());
}

bool Call::can_be_started(const Communicator& communicator, const Decision& decision) const {
  const bool waits = decision.sized && decision.spec().family == Family::native;
  return decision.exchange && !waits && !exceeded_limit_of(communicator, decision);
}

Decision& Call::settle(Communicator& communicator, Decision& decision, Begun begun) const {
  const Collective collective = arguments_.collective;
  if (begun == Begun::started && !can_be_started(communicator, decision))
    return communicator.decisions().by_messages(collective);
  if (const char* const limit = exceeded_limit_of(communicator, decision)) [[unlikely]]
    return communicator.decisions().decline(collective, limit);
  if (!decision.sized) return decision;
  const auto now = communicator.observer().doing(Doing::sizes);
  if (decision.sized->agree(arguments_.send, arguments_.receive, communicator.options().scratch_limit_bytes,
                            communicator.next_exchange()))
    return decision;
  return begun == Begun::started ? communicator.decisions().by_messages(collective)
                                 : communicator.decisions().decline(collective, too_much_memory);
}

int Call::check_uncommitted(MPI_Comm packing) const {
  int failure = MPI_SUCCESS;
  const auto check = [&](const Blocks& side, Rank blocks) {
    const int error = side.committed() ? MPI_SUCCESS : Staging::check(side, blocks, packing);
    if (error) failure = error;
    return refused(error);
  };
  if (!arguments_.in_place && check(arguments_.send, arguments_.blocks.out)) return failure;
  check(arguments_.receive, arguments_.blocks.in);
  return failure;
}

int Call::run_with_copies(Exchange& exchange, Invocation invocation, MPI_Comm packing, bool& sent) {
  prepare(exchange, invocation, packing);
  return end(exchange.run(*send_, *receive_, invocation, sent));
}

void Call::start(Exchange& exchange, Invocation invocation, MPI_Comm packing) {
  if (arguments_.are_empty()) {
    state_ = State::empty;
    failure_ = invocation.failure;
    return;
  }
  if (!invocation.failure) invocation.failure = check_types(packing);
  prepare(exchange, invocation, packing);
  exchange.start(*send_, *receive_, invocation);
  state_ = State::exchanging;
}

int Call::advance() {
  if (state_ == State::empty) return state_ = State::idle, failure_;
  const int error = state_ == State::exchanging ? exchange_->advance() : test_host();
  if (error == unfinished) return error;
  return std::exchange(state_, State::idle) == State::exchanging ? end(error) : error;
}

/// Finds the blocks that the exchange uses: those of the application, or copies of them. An error is passed to the
/// exchange.
void Call::prepare(Exchange& exchange, Invocation& invocation, MPI_Comm packing) {
  exchange_ = &exchange;
  observer_ = invocation.observer;
  packing_ = packing;
  send_.emplace(arguments_.send);
  receive_.emplace(arguments_.receive);
  used_device_ = false;
  copies_ = false;
  if (invocation.failure || needs_no_copies(exchange)) return;
  copies_ = true;
  const auto phase = Watch(observer_).during(CallPhase::copy);
  invocation.failure = bring_to_host();
  if (!invocation.failure) invocation.failure = stage();
}

/// Replaces blocks that are in device memory by copies in host memory. Returns an MPI error code.
int Call::bring_to_host() {
  if (!may_be_on_device()) return MPI_SUCCESS;
  HostCopy &out = memory_.send_host_copy, &in = memory_.receive_host_copy;
  const bool some_bytes_stay = arguments_.in_place || arguments_.neighbourhood;
  int error = in.take(arguments_.receive, arguments_.blocks.in, some_bytes_stay);
  if (!error && !arguments_.in_place) error = out.take(arguments_.send, arguments_.blocks.out, true);
  used_device_ = in.device() || out.device();
  if (error) return error;
  receive_.emplace(in.instead_of(arguments_.receive));
  send_.emplace(arguments_.in_place ? *receive_ : out.instead_of(arguments_.send));
  return MPI_SUCCESS;
}

/// Replaces blocks that the exchange cannot use by staging memory. Returns an MPI error code; then it replaces none.
int Call::stage() {
  Staging &out = memory_.send_staging, &in = memory_.receive_staging;
  const Rank sent_blocks = arguments_.sent_blocks();
  if ((stages_send_ && !Staging::packs(*send_, sent_blocks)) ||
      (stages_receive_ && !Staging::packs(*receive_, arguments_.blocks.in)))
    return MPI_ERR_COUNT;
  if ((stages_send_ && !out.reserve(*send_, sent_blocks, arguments_.to())) ||
      (stages_receive_ && !in.reserve(*receive_, arguments_.blocks.in, arguments_.from())))
    return MPI_ERR_NO_MEM;
  if (stages_send_)
    if (const int error = out.pack(*send_, packing_)) return error;
  if (stages_send_) send_.emplace(out.blocks());
  if (stages_receive_) receive_.emplace(in.blocks());
  return MPI_SUCCESS;
}

/// Ends the exchange, which returned `error`: moves received blocks from copies to the application's buffer.
int Call::end(int error) {
  if (!copies_) [[likely]]
    return error;
  const auto phase = Watch(observer_).during(CallPhase::copy);
  if (!error) error = unstage();
  if (exchange_->broken()) memory_.lose();
  else memory_.release();
  return error;
}

int Call::unstage() {
  if (stages_receive_) {
    const Blocks blocks = memory_.receive_host_copy.instead_of(arguments_.receive);
    if (const int error = again([&] { return memory_.receive_staging.unpack(blocks, packing_); })) return error;
  }
  return memory_.receive_host_copy.give_back();
}

int Call::test_host() {
  int done = 0;
  const int error = test_again(on_host_, done);
  return error || done ? error : unfinished;
}

std::int64_t Call::staging_bytes(const Exchange& exchange) const {
  const bool sends = stages_send(exchange), receives = stages_receive(exchange);
  std::int64_t all = 0;
  for (Rank i = 0; sends && i < arguments_.sent_blocks(); ++i) all += arguments_.send.bytes(i);
  for (Rank i = 0; receives && i < arguments_.blocks.in; ++i) all += arguments_.receive.bytes(i);
  return all;
}

int KeptCall::start_on_host(MPI_Comm comm) {
  MPI_Request started = MPI_REQUEST_NULL;
  const Request& what = request();
  const int error = start_native(what.collective, what.send ? &*what.send : nullptr, what.receive, comm, &started);
  if (!error) runs_on_host(started);
  return error;
}

}  // namespace swapmeet
