#include "session/call.hpp"

#include "choose/limits.hpp"
#include "engine/engine.hpp"
#include "mpi/outcome.hpp"
#include "session/communicator.hpp"

namespace swapmeet {

std::uint64_t Arguments::sent_bytes() const {
  std::uint64_t all = 0;
  const std::span<const Rank> peers = to();
  for (Rank i = 0; i < sent_blocks(); ++i)
    if (peers.empty() || peers[static_cast<std::size_t>(i)] != nobody) all += static_cast<std::uint64_t>(send.bytes(i));
  return all;
}

void CopyMemory::release() {
  send.release();
  receive.release();
}

void CopyMemory::lose() {
  send.lose();
  receive.lose();
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

int Call::run_with_copies(Exchange& exchange, Invocation invocation, MPI_Comm packing) {
  prepare(exchange, invocation, packing);
  return end(exchange.run(*send_, *receive_, invocation));
}

void Call::start(Exchange& exchange, Invocation invocation, MPI_Comm packing) {
  copies_ = false;
  result_ = invocation.failure;
  if (!arguments_.are_empty()) {
    if (!invocation.failure) invocation.failure = check_types(packing);
    prepare(exchange, invocation, packing);
    result_ = exchange.start(*send_, *receive_, invocation);
  }
  under_way_ = true;
}

int Call::advance() {
  if (result_ == unfinished) result_ = exchange_->advance();
  if (result_ == unfinished) return result_;
  under_way_ = false;
  return end(result_);
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
  invocation.failure = stage();
}

/// Replaces blocks that the exchange cannot use where they lie by staging memory. Returns an MPI error code; then it
/// replaces none.
int Call::stage() {
  Staging &out = memory_.send, &in = memory_.receive;
  int error = in.take(arguments_.receive, arguments_.blocks.in, arguments_.from(), stages_receive_);
  if (!error) error = out.take(arguments_.send, arguments_.sent_blocks(), arguments_.to(), stages_send_);
  if (!error && out.in_use()) error = out.pack(arguments_.send, packing_);
  used_device_ = in.on_device() || out.on_device();
  if (error) return error;
  if (out.in_use()) send_.emplace(out.blocks());
  if (in.in_use()) receive_.emplace(in.blocks());
  return MPI_SUCCESS;
}

/// Ends the exchange, which returned `error`: moves received blocks from copies to the application's buffer.
int Call::end(int error) {
  if (!copies_) [[likely]]
    return error;
  const auto phase = Watch(observer_).during(CallPhase::copy);
  if (!error && memory_.receive.in_use())
    error = again([&] { return memory_.receive.unpack(arguments_.receive, packing_); });
  if (exchange_->broken()) memory_.lose();
  else memory_.release();
  return error;
}

std::int64_t Call::staging_bytes(const Exchange& exchange) const {
  const bool sends = stages_send(exchange), receives = stages_receive(exchange);
  std::int64_t all = 0;
  for (Rank i = 0; sends && i < arguments_.sent_blocks(); ++i) all += arguments_.send.bytes(i);
  for (Rank i = 0; receives && i < arguments_.blocks.in; ++i) all += arguments_.receive.bytes(i);
  return all;
}

}  // namespace swapmeet
