#include "interpose/serve.hpp"

#include <cstring>

#include "mpi/report.hpp"
#include "mpi/outcome.hpp"
#include "session/deciding.hpp"

namespace swapmeet {

namespace {

/// Remembers a call whose decision equal calls may reuse. It is called only if no statistics, records or observations
/// are kept.
void remember(const Arguments& call, Communicator& communicator, const Decision& decision, OnlineTuning* tuning) {
  if (communicator.options().check) return;
  const bool ours = decision.exchange != nullptr;
  if (!ours && decision.least_bytes < 0) return;  // left to the host MPI for the time being
  // Online tuning counts the calls of each class of sizes separately, so equal blocks that it tunes need a decision.
  if (!ours && decision.least_bytes == 0 && decision.most_bytes == INT64_MAX &&
      (!decision.tries || of_unequal_blocks(call.collective)))
    communicator.fast_paths().left_to_host(call.collective) = {true, tuning};
  if ((ours && !decision.plan) || call.collective != Collective::alltoall) return;
  if (call.in_place && ours && !decision.plan->allows_in_place()) return;
  const Blocks &receive = call.receive, &send = call.send;
  if (!send.type(0).predefined || !receive.type(0).predefined) return;  // a freed handle may come to mean another type
  Repeat repeat{Repeat::By::host,       nullptr, send.count(0), receive.count(0), send.type(0).handle,
                receive.type(0).handle, {},      tuning};
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

/// Whether the call is complete with `error` of `exchange`. It is not if MPI refused an argument before anything was
/// sent: the host MPI must then report the error itself.
bool finished(const Exchange& exchange, int error) {
  return error == MPI_SUCCESS || !exchange.nothing_sent() || !refused(error);
}

/// Executes the exchange of `decision`. Returns as serve() does.
bool run(Call& call, Communicator& communicator, const Decision& decision, int& error) {
  error = call.check_types(communicator.members().packing());
  if (refused(error)) return false;
  Invocation exchange = communicator.next_exchange();  // also without data: others may run it by serve_again()
  exchange.failure = error;
  error = call.run(*decision.exchange, exchange, communicator.members().packing());
  if (call.used_device() && communicator.options().explain) [[unlikely]]
    say_once("buffers that are memory of a device are brought to the host and back");
  return finished(*decision.exchange, error);
}

}  // namespace

bool serve_again(const void* send, void* receive, Communicator& communicator, int& error) {
  Repeat& repeat = communicator.fast_paths().repeat;
  repeat.rows.send = static_cast<char*>(const_cast<void*>(send));
  repeat.rows.receive = static_cast<char*>(receive);
  error = repeat.plan->run(repeat.rows, communicator.next_exchange());
  return finished(*repeat.plan, error);
}

bool serve(const Arguments& arguments, MPI_Comm comm, Communicator& communicator, CallObserver*& ends_later,
           int& error) {
  communicator.members().team->set_user_comm(comm);
  const bool left = communicator.leaves_call();
  if (!left) [[likely]]
    communicator.be_ready();
  std::vector<char> arrived;  // blocks of this call that were piggybacked on the exchange of parameters
  if (communicator.records().has_piggybacked()) [[unlikely]]
    arrived = communicator.records().take_piggybacked();
  if (communicator.options().check) [[unlikely]]
    if (!communicator.observer().check_arguments(arguments)) return error = MPI_ERR_ARG, true;
  CallObserver& observer = communicator.observer();
  const bool observed = observer.needs_events();
  if (observed) [[unlikely]]
    observer.call_begins(arguments);
  Call call(arguments, communicator.memory().copies);
  CallTuning tuning;
  Decision& decision = left ? communicator.decisions().decline(arguments.collective, first_call)
                            : decide(call, communicator, Begun::now, tuning);
  const bool ours = decision.exchange != nullptr;
  const bool in_records = !ours || (communicator.records().took_over() && !communicator.options().algorithm);
  const bool over = !arrived.empty() && in_records && !tuning.trial;
  if (over) [[unlikely]]
    std::memcpy(arguments.receive.address(0), arrived.data(), arrived.size());
  if (!observed && !tuning.trial) [[likely]] {
    const bool done = over || (ours && run(call, communicator, decision, error));
    if (done || !ours) remember(arguments, communicator, decision, tuning.counts);
    return done;
  }
  ends_later = &observer;
  observer.call_decided(arguments, decision, tuning.trial);
  const bool done = !over && ours && run(call, communicator, decision, error);
  if (!done) observer.call_goes_to_host();
  if (done || over) observer.call_ends();
  return done || over;
}

}  // namespace swapmeet
