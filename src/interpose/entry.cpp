/// The entry points of blocking all-to-alls. The library exports both the MPI_ and the PMPI_ names, because Open MPI's
/// Fortran bindings and profiling tools call the latter. Calls with invalid arguments are passed to the host MPI, which
/// reports the error in its own way.
#include "api/export.hpp"
#include "api/given_arguments.hpp"
#include "mpi/guard.hpp"
#include "interpose/foreign.hpp"
#include "interpose/parameters.hpp"
#include "interpose/serve.hpp"

#include <swapmeet/swapmeet.h>

namespace swapmeet {

namespace {

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

// The same code under the library's own names; -Bsymbolic-functions (library.cmake) keeps the call within the library if
// the MPI was loaded first. The public header declares them with the parameters of mpi.h.
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
