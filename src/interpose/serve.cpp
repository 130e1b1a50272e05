#include "interpose/serve.hpp"

#include <chrono>
#include <cstring>

#include "mpi/report.hpp"
#include "mpi/outcome.hpp"
#include "session/explain.hpp"

namespace swapmeet {

namespace {

/// Whether node peers can read the sent blocks directly. Only the first byte of each block is looked up.
bool lies_directly(const Arguments& call) {
  const Regions& regions = context().regions;
  if (context().options.heap_block_bytes == 0 && !regions.any()) return false;
  const Blocks& sent = call.send;
  for (Rank i = 0; i < call.sent_blocks(); ++i) {
    const Piece first{sent.address(i), 1};
    if (sent.bytes(i) > 0 && regions.find({&first, 1}).id == 0) return false;
  }
  return true;
}

/// The decision for a call that takes part in online tuning. If the call is a trial of another algorithm, `trial` is
/// set. Collective when a new trial may begin; otherwise local.
[[gnu::noinline]] Decision& tried(const Arguments& call, OnlineTuning& trying, OnlineTuning*& trial) {
  if (!trying.due()) return trying.usual();
  Decision& decision = trying.next(call.block_bytes(), call.sent_bytes(), lies_directly(call));
  if (trying.under_way()) trial = &trying;
  return decision;
}

/// Makes the decision for `call`, and explains it when it is first used. Collective over the communicator when a
/// decision is first used, and in each call for which the ranks agree on the sizes of blocks or on trials; otherwise
/// local. `trying` is set to the online tuning that counts such calls, or nullptr. `trial` is set as by tried().
Decision& decide(const Call& call, Communicator& communicator, OnlineTuning*& trying, OnlineTuning*& trial) {
  const Collective collective = call.arguments().collective;
  const std::int64_t block_bytes = call.arguments().block_bytes();
  Decision& first = communicator.decisions().decide(collective, block_bytes);
  Decision* decision = &first;
  if (first.tries) [[unlikely]]
    trying = communicator.decisions().trying(collective, first, block_bytes);
  if (trying) [[unlikely]] {
    decision = &tried(call.arguments(), *trying, trial);
    trying =
        communicator.decisions().trying(collective, first, block_bytes);  // tuning of the next call; same on all ranks
  }
  const bool timed = decision->sized && !decision->explained;
  const auto begin = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
  if (!decision->settled_for(block_bytes)) decision = &call.settle(communicator, *decision, Call::Begun::now);
  const auto agreement = timed ? std::chrono::steady_clock::now() - begin : std::chrono::nanoseconds{};
  if (!decision->explained) [[unlikely]] {
    decision->explained = true;
    explain(name_of(collective), collective, communicator.members(), *decision, agreement);
  }
  return *decision;
}

/// Remembers a call whose decision equal calls may reuse. It is called only if no statistics, records or observations
/// are kept.
void remember(const Arguments& call, Communicator& communicator, const Decision& decision, OnlineTuning* trying) {
  if (communicator.options().check) return;
  const bool ours = decision.exchange != nullptr;
  if (!ours && decision.least_bytes < 0) return;  // left to the host MPI for the time being
  // Online tuning counts the calls of each class of sizes separately, so equal blocks that it tunes need a decision.
  if (!ours && decision.least_bytes == 0 && decision.most_bytes == INT64_MAX &&
      (!decision.tries || of_unequal_blocks(call.collective)))
    communicator.fast_paths().left_to_host(call.collective) = {true, trying};
  if ((ours && !decision.plan) || call.collective != Collective::alltoall) return;
  if (call.in_place && ours && !decision.plan->allows_in_place()) return;
  const Blocks &receive = call.receive, &send = call.send;
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

/// Executes the exchange of `decision`. Returns as serve() does.
bool run(Call& call, Communicator& communicator, const Decision& decision, int& error) {
  bool sent = false;
  error = call.check_types(communicator.members().packing());
  if (!refused(error)) {
    Invocation exchange = communicator.next_exchange();  // also without data: others may run it by serve_again()
    exchange.failure = error;
    error = call.run(*decision.exchange, exchange, communicator.members().packing(), sent);
  }
  if (call.used_device() && communicator.options().explain) [[unlikely]]
    say_once("buffers that are memory of a device are brought to the host and back");
  return finished(sent, error);
}

}  // namespace

bool serve_again(const void* send, void* receive, Communicator& communicator, int& error) {
  Repeat& repeat = communicator.fast_paths().repeat;
  bool sent = false;
  repeat.rows.send = static_cast<char*>(const_cast<void*>(send));
  repeat.rows.receive = static_cast<char*>(receive);
  error = repeat.plan->run(repeat.rows, communicator.next_exchange(), sent);
  return finished(sent, error);
}

bool serve(const Arguments& arguments, MPI_Comm comm, Communicator& communicator, CallObserver*& ends_later,
           int& error) {
  communicator.members().called_on(comm);
  const bool left = communicator.leaves_call();
  if (!left) [[likely]]
    communicator.be_ready();
  std::vector<char> arrived;  // blocks of this call that were piggybacked on the exchange of parameters
  if (communicator.records().has_piggybacked()) [[unlikely]]
    arrived = communicator.records().take_piggybacked();
  if (communicator.options().check) [[unlikely]]
    if (!communicator.observer().check_arguments(
            {arguments.collective, arguments.in_place, arguments.send, arguments.receive, arguments.neighbourhood}))
      return error = MPI_ERR_ARG, true;
  CallObserver& observer = communicator.observer();
  const bool observed = observer.needs_events();
  if (observed) [[unlikely]]
    observer.call_begins(arguments);
  Call call(arguments, communicator.memory().copies);
  OnlineTuning *trying = nullptr, *trial = nullptr;
  Decision& decision = left ? communicator.decisions().decline(arguments.collective, first_call)
                            : decide(call, communicator, trying, trial);
  const bool ours = decision.exchange != nullptr;
  const bool in_records = !ours || (communicator.records().took_over() && !communicator.options().algorithm);
  const bool over = !arrived.empty() && in_records && !trial;
  if (over) [[unlikely]]
    std::memcpy(arguments.receive.address(0), arrived.data(), arrived.size());
  if (!observed && !trial) [[likely]] {
    const bool done = over || (ours && run(call, communicator, decision, error));
    if (done || !ours) remember(arguments, communicator, decision, trying);
    return done;
  }
  ends_later = &observer;
  observer.call_decided(arguments, decision, trial);
  const bool done = !over && ours && run(call, communicator, decision, error);
  if (!done) observer.call_goes_to_host();
  if (done || over) observer.call_ends();
  return done || over;
}

}  // namespace swapmeet
