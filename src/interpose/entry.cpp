/// The entry points of blocking all-to-alls. The library exports both the MPI_ and the PMPI_ names, because Open MPI's
/// Fortran bindings and profiling tools call the latter. Calls with invalid arguments are passed to the host MPI, which
/// reports the error in its own way.
#include <cstring>

#include "api/export.hpp"
#include "api/given_arguments.hpp"
#include "interpose/foreign.hpp"
#include "interpose/parameters.hpp"
#include "mpi/guard.hpp"
#include "mpi/outcome.hpp"
#include "mpi/report.hpp"
#include "session/deciding.hpp"

#include <swapmeet/swapmeet.h>

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

/// Serves an MPI_Alltoall whose arguments, except for the addresses, equal those in communicator.fast_paths().repeat.
/// Returns as serve() does.
bool serve_again(const void* send, void* receive, Communicator& communicator, int& error) {
  Repeat& repeat = communicator.fast_paths().repeat;
  repeat.rows.send = static_cast<char*>(const_cast<void*>(send));
  repeat.rows.receive = static_cast<char*>(receive);
  error = repeat.plan->run(repeat.rows, communicator.next_exchange());
  return finished(*repeat.plan, error);
}

/// Serves a call on `comm`. Returns true if it is done; `error` is then its MPI error code, which the caller raises on
/// `comm`. Returns false if the caller must pass the call to the host MPI. That happens if the decision is to leave the
/// call to the host MPI, or if the host MPI refused an argument before anything was sent: it then reports the error
/// itself. `ends_later` is set if the call is observed: the caller must then report its end to that observer.
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

/// Whether all calls of this collective on `known` are left to the host MPI. This is the fast path, which skips the
/// decision.
[[gnu::always_inline]] inline bool left_to_host(Collective collective, Communicator* known) {
  return known && known->fast_paths().left_to_host(collective).again();
}

// serve_given() returns false if the call must be passed to the host MPI. If `observer` is set then, the end of the call
// must be reported to it. Otherwise `error` is the result. `known` is the Communicator of `comm` if it was found in the
// cache of recent communicators, or nullptr.

/// Serves an MPI_Alltoall. A call that is like the last one, but for its addresses, is served by a short cut, in which
/// nothing is decided and no Call is made: that would take longer than the exchange of small blocks within a node.
template <class Count>
[[gnu::always_inline]] inline bool serve_given(const EqualArguments<Count, false>& given, MPI_Comm comm,
                                               Communicator* known, CallObserver*& observer, int& error) {
  const auto& [send, receive] = given;
  if (comm == MPI_COMM_NULL || mistake_in(send, receive, 1)) return false;
  const FirstCall first{send.base, send.count, send.type, receive.base, receive.count, receive.type};
  Communicator* const communicator = known ? known : serving(comm, &first);
  if (!communicator) return false;
  const bool in_place = send.base == MPI_IN_PLACE;
  Repeat& repeat = communicator->fast_paths().repeat;
  const bool alike = in_place ? repeat.is(0, MPI_DATATYPE_NULL, receive.count, receive.type)
                              : repeat.is(send.count, send.type, receive.count, receive.type);
  if (alike && repeat.by != Repeat::By::nobody) {
    void* const to = const_cast<void*>(receive.base);
    const void* const from = in_place ? to : send.base;
    if (repeat.by == Repeat::By::host) {
      if (repeat.again()) return false;
    } else if ((!may_be_on_device() || (!device_of(from) && !device_of(to))) && repeat.again()) {
      return serve_again(from, to, *communicator, error);
    }
  }
  const Rank ranks = communicator->ranks();
  return serve(given.arguments(*communicator, {ranks, ranks}), comm, *communicator, observer, error);
}

template <class Given>
bool serve_given(const Given& given, MPI_Comm comm, Communicator* known, CallObserver*& observer, int& error) {
  Communicator* const communicator = known ? known : comm == MPI_COMM_NULL ? nullptr : serving(comm);
  const std::optional<Degrees> blocks = communicator ? blocks_of<Given>(*communicator) : std::nullopt;
  if (!blocks || given.mistaken(*blocks)) return false;
  return serve(given.arguments(*communicator, *blocks), comm, *communicator, observer, error);
}

/// Called by the library's own functions: sets `comm` up, if the job has no communicator yet and nothing was made for
/// `comm` before. The communicator of the job is then made if `comm` has all ranks, which functions of MPI do not do
/// where other threads may be making communicators. Returns an MPI error code.
int before_own_function(Handle handle) {
  if (!mpi_suits() || context().job.exists()) return MPI_SUCCESS;
  const auto comm = as<MPI_Comm>(handle);
  const int error = guarded([&] { return communicator_of(comm), MPI_SUCCESS; });
  return error ? raise(comm, error) : error;
}

}  // namespace

}  // namespace swapmeet

using swapmeet::Handle;

// An entry point: it serves the call, or passes it to the host MPI. An exception ends the call with an error on this
// rank. Errors are raised outside of the guard, since the application's error handler may throw. `shape` is that of the
// parameters (interpose/parameters.hpp).
#define SWAPMEET_BLOCKING(name, Name, shape, function, Count, Displacement)                                         \
  SWAPMEET_NAMED(name, (SWAPMEET_PARAMETERS_##shape(Count, Displacement), Handle comm)) {                           \
    constexpr swapmeet::Collective collective = swapmeet::Collective::function;                                     \
    const MPI_Comm user = swapmeet::as<MPI_Comm>(comm);                                                             \
    swapmeet::Communicator* const known = swapmeet::recent().find(user);                                            \
    if (swapmeet::left_to_host(collective, known)) return swapmeet::Name(SWAPMEET_HERE_##shape, user);              \
    if (!swapmeet::mpi_suits()) [[unlikely]]                                                                        \
      return swapmeet::pass_on(#Name, SWAPMEET_GIVEN_##shape, comm);                                                \
    swapmeet::CallObserver* observer = nullptr;                                                                     \
    bool served = true;                                                                                             \
    int error = MPI_SUCCESS;                                                                                        \
    const int thrown = swapmeet::guarded([&] {                                                                      \
      served = swapmeet::serve_given(swapmeet::call_of<swapmeet::of_neighbours(collective)>(SWAPMEET_HERE_##shape), \
                                     user, known, observer, error);                                                 \
      return MPI_SUCCESS;                                                                                           \
    });                                                                                                             \
    if (thrown) [[unlikely]]                                                                                        \
      error = thrown, served = true;                                                                                \
    if (served) {                                                                                                   \
      swapmeet::settle();                                                                                           \
      if (error) [[unlikely]]                                                                                       \
        error = swapmeet::raise(user, error);                                                                       \
      return error;                                                                                                 \
    }                                                                                                               \
    error = swapmeet::Name(SWAPMEET_HERE_##shape, user);                                                            \
    if (observer) swapmeet::guarded([&] { return observer->call_ends(), MPI_SUCCESS; });                            \
    return error;                                                                                                   \
  }

// `displacement_of_typed` is the type of displacements in the variant with a type for each block:
// MPI_Neighbor_alltoallw takes MPI_Aint.
#define SWAPMEET_THREE(prefix, name, size, count, displacement, displacement_of_typed)               \
  SWAPMEET_ENTRIES(SWAPMEET_BLOCKING, prefix##lltoall##size, equal, name, count, displacement)       \
  SWAPMEET_ENTRIES(SWAPMEET_BLOCKING, prefix##lltoallv##size, unequal, name##v, count, displacement) \
  SWAPMEET_ENTRIES(SWAPMEET_BLOCKING, prefix##lltoallw##size, typed, name##w, count, displacement_of_typed)

SWAPMEET_THREE(A, alltoall, , int, int, int)
SWAPMEET_THREE(Neighbor_a, neighbor_alltoall, , int, int, MPI_Aint)
#if MPI_VERSION >= 4
SWAPMEET_THREE(A, alltoall, _c, MPI_Count, MPI_Aint, MPI_Aint)
SWAPMEET_THREE(Neighbor_a, neighbor_alltoall, _c, MPI_Count, MPI_Aint, MPI_Aint)
#endif

// The same code under the library's own names. The public header declares them with the parameters of mpi.h.
// Each is a second name of a function own_..., whose handles have the type Handle as above.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
#define SWAPMEET_OWN(name, Name, shape, Count, Displacement)                                                        \
  extern "C" __attribute__((visibility("hidden"))) int own_##name(SWAPMEET_PARAMETERS_##shape(Count, Displacement), \
                                                                  Handle comm) {                                    \
    if (const int error = swapmeet::before_own_function(comm)) return error;                                        \
    return entry_##Name(SWAPMEET_GIVEN_##shape, comm);                                                              \
  }                                                                                                                 \
  extern "C" __attribute__((visibility("default"), alias("own_" #name))) decltype(name) name;
#define SWAPMEET_OWN_ALL(size, Count, Displacement)                                         \
  SWAPMEET_OWN(swapmeet_alltoall##size, MPI_Alltoall##size, equal, Count, Displacement)     \
  SWAPMEET_OWN(swapmeet_alltoallv##size, MPI_Alltoallv##size, unequal, Count, Displacement) \
  SWAPMEET_OWN(swapmeet_alltoallw##size, MPI_Alltoallw##size, typed, Count, Displacement)

SWAPMEET_OWN_ALL(, int, int)
#if MPI_VERSION >= 4
SWAPMEET_OWN_ALL(_c, MPI_Count, MPI_Aint)
#endif

// start.cpp defines a macro of the same name and may be compiled as one unit with this file.
#undef SWAPMEET_THREE
