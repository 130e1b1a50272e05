#include "interpose/serve.hpp"

#include <cstring>
#include <numeric>

#include "interpose/on_host.hpp"
#include "mpi/outcome.hpp"
#include "session/execution.hpp"
#include "session/explain.hpp"

namespace swapmeet {

namespace {

/// Executes the exchange with the sent blocks, the received blocks, or both in staging memory. An error on this rank
/// does not end the exchange, because the other ranks are already in it: the rank takes part and passes the error on.
int staged_exchange(const Call& call, Communicator& communicator, Exchange& plan, bool stage_send, bool stage_receive,
                    int failure, bool& sent) {
  const Blocks& send = call.in_place ? call.receive : call.send;
  Staging &out = communicator.memory().send_staging, &in = communicator.memory().receive_staging;
  Invocation exchange = communicator.next_exchange();
  const auto phase = Watch(communicator.observer().get()).during(CallPhase::copy);
  const auto staged = [&]() -> int {
    if ((stage_send && !Staging::packs(send, call.sent_blocks())) ||
        (stage_receive && !Staging::packs(call.receive, call.blocks.in)))
      return MPI_ERR_COUNT;
    if ((stage_send && !out.reserve(send, call.sent_blocks(), call.to())) ||
        (stage_receive && !in.reserve(call.receive, call.blocks.in, call.from())))
      return MPI_ERR_NO_MEM;
    return stage_send ? out.pack(send, communicator.members().packing()) : MPI_SUCCESS;
  };
  exchange.failure = failure ? failure : staged();
  phase.then(CallPhase::other);
  const bool ready = exchange.failure == MPI_SUCCESS;
  int error = plan.run(ready && stage_send ? out.blocks() : send, ready && stage_receive ? in.blocks() : call.receive,
                       exchange, sent);
  phase.then(CallPhase::copy);
  if (!error && stage_receive && in.unpack(call.receive, communicator.members().packing()) != MPI_SUCCESS)
    error =
        in.unpack(call.receive, communicator.members().packing());  // a failed MPI call often succeeds when repeated
  if (plan.broken()) return error;                                  // MPI may still read from staging memory
  if (stage_send) out.release();
  if (stage_receive) in.release();
  return error;
}

/// Executes the exchange, with staging where the plan cannot use the buffers directly. `failure` is an earlier error of
/// this rank. `sent` tells whether anything was sent.
int exchange(const Call& call, Communicator& communicator, Exchange& plan, int failure, bool& sent) {
  sent = false;
  // A type that MPI refuses must be found before anything is sent.
  for (const Blocks* side : {&call.send, &call.receive})
    if (const int error = side->committed() || (call.in_place && side == &call.send)
                              ? MPI_SUCCESS
                              : Staging::check(*side, side == &call.send ? call.blocks.out : call.blocks.in,
                                               communicator.members().packing())) {
      if (refused(error)) return error;
      failure = error;
    }
  if (is_empty(call.collective, call.in_place ? call.receive : call.send, call.receive))
    return communicator.next_exchange(),
           failure;  // it is numbered like any other exchange: other ranks may execute it by serve_again()
  const Blocks& send = call.in_place ? call.receive : call.send;
  const bool swaps = call.in_place && plan.swaps(call.receive);
  const bool stage_send = call.in_place ? !swaps : !plan.takes(send, false);
  const bool stage_receive = !swaps && !plan.takes(call.receive, call.in_place);
  if (!stage_send && !stage_receive) {
    Invocation exchange = communicator.next_exchange();
    exchange.failure = failure;
    return plan.run(send, call.receive, exchange, sent);
  }
  return staged_exchange(call, communicator, plan, stage_send, stage_receive, failure, sent);
}

std::uint64_t bytes_of(const Call& call) {
  return bytes_sent(call.in_place ? call.receive : call.send, call.sent_blocks(), call.to());
}

/// Whether node peers can read the sent blocks directly. Only the first byte of each block is looked up.
bool lies_directly(const Call& call) {
  const Regions& regions = context().regions;
  if (context().options.heap_block_bytes == 0 && !regions.any()) return false;
  const Blocks& sent = call.in_place ? call.receive : call.send;
  for (Rank i = 0; i < call.sent_blocks(); ++i) {
    const Piece first{sent.address(i), 1};
    if (sent.bytes(i) > 0 && regions.find({&first, 1}).id == 0) return false;
  }
  return true;
}

/// The decision for a call that takes part in online tuning. If the call is a trial of another algorithm, `trial` is
/// set. Collective when a new trial may begin; otherwise local.
[[gnu::noinline]] Decision& tried(const Call& call, std::int64_t block_bytes, OnlineTuning& trying,
                                  OnlineTuning*& trial) {
  if (!trying.due()) return trying.usual();
  Decision& decision = trying.next(block_bytes, bytes_of(call), lies_directly(call));
  if (trying.under_way()) trial = &trying;
  return decision;
}

/// Makes the decision for `call`, and explains it when it is first used. Collective over call.comm when a decision is
/// first used, and in each call for which the ranks agree on the sizes of blocks or on trials; otherwise local.
/// `trying` is set to the online tuning that counts such calls, or nullptr. `trial` is set as by tried().
Decision& decide(const Call& call, Communicator& communicator, OnlineTuning*& trying, OnlineTuning*& trial) {
  const std::int64_t block_bytes = call.collective == Collective::alltoall ? call.receive.bytes(0) : 0;
  Decision& first = communicator.decisions().decide(call.collective, block_bytes);
  Decision* decision = &first;
  if (!first.trying.empty()) [[unlikely]]
    trying = communicator.decisions().trying(call.collective, first, block_bytes);
  if (trying) [[unlikely]] {
    decision = &tried(call, block_bytes, *trying, trial);
    trying = communicator.decisions().trying(call.collective, first,
                                             block_bytes);  // tuning of the next call; same on all ranks
  }
  if (block_bytes > decision->unchecked_bytes) [[unlikely]]
    decision = &communicator.decisions().within_limits(*decision, call.collective, call.in_place, block_bytes);
  std::chrono::nanoseconds agreement{};
  if (decision->sized) {
    const bool timed = !decision->explained;
    const auto begin = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
    const Blocks& send = call.in_place ? call.receive : call.send;
    const auto now = communicator.observer().doing(Doing::sizes);
    Invocation exchange = communicator.next_exchange();
    if (!decision->sized->agree(send, call.receive, communicator.options().scratch_limit_bytes, exchange))
      decision = &communicator.decisions().decline(call.collective, too_much_memory);
    if (timed) agreement = std::chrono::steady_clock::now() - begin;
  }
  if (!decision->explained) [[unlikely]] {
    decision->explained = true;
    explain(name_of(call.collective), call.collective, communicator.members(), *decision, agreement);
  }
  return *decision;
}

/// Begins the record of a call, which `host_call` completes.
void note(const Call& call, Communicator& communicator, HostCall& host_call) {
  const Blocks& sent = call.in_place ? call.receive : call.send;
  const bool derived = !sent.contiguous() || !call.receive.contiguous();
  host_call.noted =
      context().recorder.note(*communicator.observer().recorded(), call.collective, call.in_place, derived, sent);
}

/// Remembers a call whose decision equal calls may reuse. It is called only if no statistics, records or observations
/// are kept.
void remember(const Call& call, Communicator& communicator, const Decision& decision, OnlineTuning* trying) {
  if (communicator.options().check) return;
  const bool ours = decision.exchange != nullptr;
  if (!ours && decision.least_bytes < 0) return;  // left to the host MPI for the time being
  // Online tuning counts the calls of each class of sizes separately, so equal blocks that it tunes need a decision.
  if (!ours && decision.least_bytes == 0 && decision.most_bytes == INT64_MAX &&
      (decision.trying.empty() || of_unequal_blocks(call.collective)))
    communicator.fast_paths().left_to_host(call.collective) = {true, trying};
  if ((ours && !decision.plan) || call.collective != Collective::alltoall) return;
  if (call.in_place && ours && !decision.plan->allows_in_place()) return;
  const Blocks &receive = call.receive, &send = call.in_place ? receive : call.send;
  if (!send.type(0).predefined || !receive.type(0).predefined) return;  // a freed handle may come to mean another type
  Repeat repeat{Repeat::By::host,       nullptr, send.count(0), receive.count(0), send.type(0).handle,
                receive.type(0).handle, {},      trying};
  if (ours) {
    const std::optional<Rows> rows = decision.plan->rows_of(send, receive);
    if (!rows || !send.contiguous() || !receive.contiguous()) return;
    repeat.by = Repeat::By::plan;
    repeat.plan = decision.plan;
    repeat.rows = *rows;
  }
  if (call.in_place) repeat.send_count = 0, repeat.send_type = MPI_DATATYPE_NULL;
  communicator.fast_paths().repeat = repeat;
}

/// Whether the call is complete with `error`. It is not if MPI refused an argument before anything was sent: the host
/// MPI must then report the error itself. `sent` tells whether anything was sent.
bool finished(bool sent, int error) { return error == MPI_SUCCESS || sent || !refused(error); }

/// exchange() by the plan of `decision`, in the form that exchange_on_host() calls.
int exchange_as_decided(const Call& call, Communicator& communicator, const Decision& decision, int failure,
                        bool& sent) {
  return exchange(call, communicator, *decision.exchange, failure, sent);
}

/// Executes the exchange of `decision`. Returns as serve() does.
bool run(const Call& call, Communicator& communicator, const Decision& decision, int& error) {
  bool sent = false;
  if (may_be_on_device()) [[unlikely]]
    error = exchange_on_host(call, communicator, decision, sent, exchange_as_decided);
  else error = exchange_as_decided(call, communicator, decision, MPI_SUCCESS, sent);
  return finished(sent, error);
}

}  // namespace

void HostCall::count() const {
  if (!observed.communicator) return decision->tally().add(bytes, std::chrono::steady_clock::now() - begin, blocks);
  const PhaseTimes times = observed.communicator->observer().call_ends(*observed.decision, observed.bytes);
  if (!decision) return;
  decision->tally().add(bytes, std::accumulate(times.begin(), times.end(), std::chrono::nanoseconds{}), blocks);
  if (observed.communicator->options().phases) decision->tally().add_phases(times);
}

bool serve_again(const void* send, void* receive, Communicator& communicator, int& error) {
  Repeat& repeat = communicator.fast_paths().repeat;
  bool sent = false;
  repeat.rows.send = static_cast<char*>(const_cast<void*>(send));
  repeat.rows.receive = static_cast<char*>(receive);
  error = repeat.plan->run(repeat.rows, communicator.next_exchange(), sent);
  return finished(sent, error);
}

bool serve(const Call& call, Communicator& communicator, HostCall& host_call, int& error) {
  communicator.members().called_on(call.comm);
  const bool left = communicator.leaves_call();
  if (!left) [[likely]]
    communicator.be_ready();
  std::vector<char> arrived;  // blocks of this call that were piggybacked on the exchange of parameters
  if (communicator.records().has_piggybacked()) [[unlikely]]
    arrived = communicator.records().take_piggybacked();
  if (communicator.options().check) [[unlikely]]
    if (!communicator.observer().check_arguments(
            {call.collective, call.in_place, call.send, call.receive, call.neighbourhood}))
      return error = MPI_ERR_ARG, true;
  if (communicator.observer().recorded()) [[unlikely]]
    note(call, communicator, host_call);
  const bool observed = communicator.observer().observed();
  if (observed) [[unlikely]]
    communicator.observer().call_begins(call.collective);
  OnlineTuning* trying = nullptr;
  Decision& decision = left ? communicator.decisions().decline(call.collective, first_call)
                            : decide(call, communicator, trying, host_call.trial);
  const bool ours = decision.exchange != nullptr;
  const bool over = !ours && !arrived.empty();
  if (over) [[unlikely]]
    std::memcpy(call.receive.address(0), arrived.data(), arrived.size());
  if (!communicator.options().statistics && !communicator.observer().recorded() && !observed && !host_call.trial)
      [[likely]] {
    const bool done = over || (ours && run(call, communicator, decision, error));
    if (done || !ours) remember(call, communicator, decision, trying);
    return done;
  }
  if (communicator.options().statistics) {
    host_call.decision = &decision;
    host_call.bytes = bytes_of(call);
    host_call.blocks = call.sent_blocks();
    host_call.begin = std::chrono::steady_clock::now();
  }
  if (observed) {
    host_call.observed = {&communicator, &decision, bytes_of(call)};
    communicator.observer().call_decided(decision, host_call.observed.bytes);
  }
  if (!ours || !run(call, communicator, decision, error)) {
    if (observed) communicator.observer().call_goes_to_host();
    if (over) host_call.done();
    return over;
  }
  host_call.done();
  if (decision.sized && host_call.decision)
    decision.tally().add_traffic(decision.sized->take_traffic(), decision.sized->peak_bytes());
  return true;
}

}  // namespace swapmeet
