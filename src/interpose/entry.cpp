/// The entry points of blocking all-to-alls. The library exports both the MPI_ and the PMPI_ names, because Open MPI's
/// Fortran bindings and profiling tools call the latter. Calls with invalid arguments are passed to the host MPI, which
/// reports the error in its own way.
#include "api/arguments.hpp"
#include "api/export.hpp"
#include "mpi/guard.hpp"
#include "mpi/native.hpp"
#include "interpose/foreign.hpp"
#include "interpose/serve.hpp"

#include <swapmeet/swapmeet.h>

namespace swapmeet {

namespace {

/// Whether all calls of this collective on `known` are left to the host MPI. This is the fast path, which skips the
/// decision.
[[gnu::always_inline]] inline bool left_to_host(Collective collective, Communicator* known) {
  return known && known->fast_paths().left_to_host(collective).again();
}

// Each of the following functions returns false if the call must be passed to the host MPI; `host_call.done()` must
// then be called afterwards. Otherwise `error` is the result. `known` is the Communicator of `comm` if it was found in
// the cache of recent communicators, or nullptr.

template <class Count>
[[gnu::always_inline]] inline bool alltoall(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
                                            Count receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                                            Communicator* known, HostCall& host_call, int& error) {
  if (comm == MPI_COMM_NULL ||
      mistake_in(EqualSide<Count>{send, send_count, send_type}, EqualSide<Count>{receive, receive_count, receive_type}))
    return false;
  const FirstCall first{send, send_count, send_type, receive, receive_count, receive_type};
  Communicator* const communicator = known ? known : serving(comm, &first);
  if (!communicator) return false;
  const bool in_place = send == MPI_IN_PLACE;
  Repeat& repeat = communicator->fast_paths().repeat;
  const bool alike = in_place ? repeat.is(0, MPI_DATATYPE_NULL, receive_count, receive_type)
                              : repeat.is(send_count, send_type, receive_count, receive_type);
  if (alike && repeat.by != Repeat::By::nobody) {
    const void* const from = in_place ? receive : send;
    if (repeat.by == Repeat::By::host) {
      if (repeat.again()) return false;
    } else if ((!may_be_on_device() || (!device_of(from) && !device_of(receive))) && repeat.again()) {
      return serve_again(from, receive, *communicator, error);
    }
  }
  Datatypes& types = communicator->memory().datatypes;
  const Blocks in(receive, std::int64_t{receive_count}, types[receive_type]);
  const Datatype& sent = in_place || send_type == receive_type ? in.type(0) : types[send_type];
  const Blocks out = in_place ? in : Blocks(send, std::int64_t{send_count}, sent);
  const Rank ranks = communicator->ranks();
  return serve(Call{Collective::alltoall, in_place, out, in, comm, {ranks, ranks}}, *communicator, host_call, error);
}

template <class Count, class Displacement>
bool alltoallv(const void* send, const Count* send_counts, const Displacement* send_displacements,
               MPI_Datatype send_type, void* receive, const Count* receive_counts,
               const Displacement* receive_displacements, MPI_Datatype receive_type, MPI_Comm comm, Communicator* known,
               HostCall& host_call, int& error) {
  using Side = UnequalSide<Count, Displacement>;
  const bool in_place = send == MPI_IN_PLACE;
  Communicator* const communicator = known ? known : comm == MPI_COMM_NULL ? nullptr : serving(comm);
  if (!communicator ||
      mistake_in(Side{send, send_counts, send_displacements, &send_type},
                 Side{receive, receive_counts, receive_displacements, &receive_type}, false, communicator->ranks()))
    return false;
  Datatypes& types = communicator->memory().datatypes;
  const Blocks in(receive, receive_counts, receive_displacements, types[receive_type]);
  const Blocks out = in_place ? in : Blocks(send, send_counts, send_displacements, types[send_type]);
  const Rank ranks = communicator->ranks();
  return serve(Call{Collective::alltoallv, in_place, out, in, comm, {ranks, ranks}}, *communicator, host_call, error);
}

template <class Count, class Displacement>
bool alltoallw(const void* send, const Count* send_counts, const Displacement* send_displacements,
               const MPI_Datatype* send_types, void* receive, const Count* receive_counts,
               const Displacement* receive_displacements, const MPI_Datatype* receive_types, MPI_Comm comm,
               Communicator* known, HostCall& host_call, int& error) {
  using Side = UnequalSide<Count, Displacement>;
  const bool in_place = send == MPI_IN_PLACE;
  Communicator* const communicator = known ? known : comm == MPI_COMM_NULL ? nullptr : serving(comm);
  if (!communicator ||
      mistake_in(Side{send, send_counts, send_displacements, send_types},
                 Side{receive, receive_counts, receive_displacements, receive_types}, true, communicator->ranks()))
    return false;
  const Blocks in(receive, receive_counts, receive_displacements,
                  communicator->memory().types_to_receive(receive_types, communicator->ranks()));
  const Blocks out = in_place ? in
                              : Blocks(send, send_counts, send_displacements,
                                       communicator->memory().types_to_send(send_types, communicator->ranks()));
  const Rank ranks = communicator->ranks();
  return serve(Call{Collective::alltoallw, in_place, out, in, comm, {ranks, ranks}}, *communicator, host_call, error);
}

// --- neighbourhood collectives ---------------------------------------------------------------------------------------

/// The Communicator of `comm`, or nullptr if `comm` has no virtual topology.
Communicator* with_neighbours(MPI_Comm comm, Communicator* known) {
  Communicator* const communicator = known ? known : comm == MPI_COMM_NULL ? nullptr : serving(comm);
  return communicator && communicator->neighbours().neighbourhood() ? communicator : nullptr;
}

template <class Count>
bool neighbor_alltoall(const void* send, Count send_count, MPI_Datatype send_type, void* receive, Count receive_count,
                       MPI_Datatype receive_type, MPI_Comm comm, Communicator* known, HostCall& host_call, int& error) {
  Communicator* const communicator = with_neighbours(comm, known);
  if (!communicator) return false;
  const Neighbourhood* const all = communicator->neighbours().neighbourhood();
  const Degrees blocks = all->degrees();
  const EqualSide<Count> sent{send, send_count, send_type}, received{receive, receive_count, receive_type};
  if (mistaken_among_neighbours(sent, received, blocks)) return false;
  Datatypes& types = communicator->memory().datatypes;
  const Blocks in(receive, std::int64_t{receive_count}, types[receive_type]);
  const Blocks out(send, std::int64_t{send_count}, types[send_type]);
  return serve(Call{Collective::neighbor_alltoall, false, out, in, comm, blocks, all}, *communicator, host_call, error);
}

/// The blocks of one side. If `blocks` is 0, the arrays are not read, because they may then be invalid.
template <class Count, class Displacement, class Types>
Blocks blocks_of(const UnequalSide<Count, Displacement>& side, Rank blocks, Types types) {
  if (blocks == 0) return {side.base, 0, byte_type()};
  return {side.base, side.counts, side.displacements, types(side.types)};
}

template <class Count, class Displacement>
bool neighbor_alltoallv(const void* send, const Count* send_counts, const Displacement* send_displacements,
                        MPI_Datatype send_type, void* receive, const Count* receive_counts,
                        const Displacement* receive_displacements, MPI_Datatype receive_type, MPI_Comm comm,
                        Communicator* known, HostCall& host_call, int& error) {
  Communicator* const communicator = with_neighbours(comm, known);
  if (!communicator) return false;
  const Neighbourhood* const all = communicator->neighbours().neighbourhood();
  const Degrees blocks = all->degrees();
  const UnequalSide<Count, Displacement> sent{send, send_counts, send_displacements, &send_type},
      received{receive, receive_counts, receive_displacements, &receive_type};
  if (mistaken_among_neighbours(sent, received, blocks, false)) return false;
  const auto type = [communicator](const MPI_Datatype* one) -> const Datatype& {
    return communicator->memory().datatypes[*one];
  };
  const Blocks in = blocks_of(received, blocks.in, type), out = blocks_of(sent, blocks.out, type);
  return serve(Call{Collective::neighbor_alltoallv, false, out, in, comm, blocks, all}, *communicator, host_call,
               error);
}

template <class Count, class Displacement>
bool neighbor_alltoallw(const void* send, const Count* send_counts, const Displacement* send_displacements,
                        const MPI_Datatype* send_types, void* receive, const Count* receive_counts,
                        const Displacement* receive_displacements, const MPI_Datatype* receive_types, MPI_Comm comm,
                        Communicator* known, HostCall& host_call, int& error) {
  Communicator* const communicator = with_neighbours(comm, known);
  if (!communicator) return false;
  const Neighbourhood* const all = communicator->neighbours().neighbourhood();
  const Degrees blocks = all->degrees();
  const UnequalSide<Count, Displacement> sent{send, send_counts, send_displacements, send_types},
      received{receive, receive_counts, receive_displacements, receive_types};
  if (mistaken_among_neighbours(sent, received, blocks, true)) return false;
  const Blocks in = blocks_of(received, blocks.in, [&](const MPI_Datatype* types) {
    return communicator->memory().types_to_receive(types, blocks.in);
  });
  const Blocks out = blocks_of(sent, blocks.out, [&](const MPI_Datatype* types) {
    return communicator->memory().types_to_send(types, blocks.out);
  });
  return serve(Call{Collective::neighbor_alltoallw, false, out, in, comm, blocks, all}, *communicator, host_call,
               error);
}

/// Called by the library's own functions: makes the communicator of the job, if it does not exist and `comm` has all
/// ranks. Functions of MPI do not make it where other threads may be making communicators. Returns an MPI error code.
int before_own_function(Handle handle) {
  if (!mpi_suits() || context().job.exists()) return MPI_SUCCESS;
  const auto comm = as<MPI_Comm>(handle);
  const int error = guarded([&] { return communicator_of(comm), MPI_SUCCESS; });
  return error ? raise(comm, error) : error;
}

}  // namespace

}  // namespace swapmeet

using swapmeet::Handle;
using swapmeet::native;

// The body of an entry point: it serves the call, or passes it to the host MPI. An exception ends the call with an
// error on this rank. Errors are raised outside of the guard, since the application's error handler may throw.
#define SWAPMEET_SERVE(function, underneath, comm, ...)                      \
  swapmeet::HostCall host_call;                                              \
  bool served = true;                                                        \
  int error = MPI_SUCCESS;                                                   \
  const int thrown = swapmeet::guarded([&] {                                 \
    served = swapmeet::function(__VA_ARGS__, comm, known, host_call, error); \
    return MPI_SUCCESS;                                                      \
  });                                                                        \
  if (thrown) [[unlikely]]                                                   \
    error = thrown, served = true;                                           \
  if (served) {                                                              \
    swapmeet::settle();                                                      \
    if (error) [[unlikely]]                                                  \
      error = swapmeet::raise(comm, error);                                  \
    return error;                                                            \
  }                                                                          \
  error = native().underneath(__VA_ARGS__, comm);                            \
  swapmeet::guarded([&] { return host_call.done(), MPI_SUCCESS; });          \
  return error;

#define SWAPMEET_ALLTOALL(name, Name, function, underneath, Count)                                                 \
  SWAPMEET_NAMED(name, (const void* sendbuf, Count sendcount, Handle sendtype, void* recvbuf, Count recvcount,     \
                        Handle recvtype, Handle comm)) {                                                           \
    swapmeet::Communicator* const known = swapmeet::recent().find(swapmeet::as<MPI_Comm>(comm));                   \
    if (swapmeet::left_to_host(swapmeet::Collective::function, known))                                             \
      return native().underneath(sendbuf, sendcount, swapmeet::as<MPI_Datatype>(sendtype), recvbuf, recvcount,     \
                                 swapmeet::as<MPI_Datatype>(recvtype), swapmeet::as<MPI_Comm>(comm));              \
    if (!swapmeet::mpi_suits()) [[unlikely]]                                                                       \
      return swapmeet::pass_on(#Name, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);           \
    SWAPMEET_SERVE(function, underneath, swapmeet::as<MPI_Comm>(comm), sendbuf, sendcount,                         \
                   swapmeet::as<MPI_Datatype>(sendtype), recvbuf, recvcount, swapmeet::as<MPI_Datatype>(recvtype)) \
  }

#define SWAPMEET_ALLTOALLV(name, Name, function, underneath, Count, Displacement)                                     \
  SWAPMEET_NAMED(                                                                                                     \
      name, (const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, Handle sendtype,              \
             void* recvbuf, const Count* recvcounts, const Displacement* rdispls, Handle recvtype, Handle comm)) {    \
    swapmeet::Communicator* const known = swapmeet::recent().find(swapmeet::as<MPI_Comm>(comm));                      \
    if (swapmeet::left_to_host(swapmeet::Collective::function, known))                                                \
      return native().underneath(sendbuf, sendcounts, sdispls, swapmeet::as<MPI_Datatype>(sendtype), recvbuf,         \
                                 recvcounts, rdispls, swapmeet::as<MPI_Datatype>(recvtype),                           \
                                 swapmeet::as<MPI_Comm>(comm));                                                       \
    if (!swapmeet::mpi_suits()) [[unlikely]]                                                                          \
      return swapmeet::pass_on(#Name, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, \
                               comm);                                                                                 \
    SWAPMEET_SERVE(function, underneath, swapmeet::as<MPI_Comm>(comm), sendbuf, sendcounts, sdispls,                  \
                   swapmeet::as<MPI_Datatype>(sendtype), recvbuf, recvcounts, rdispls,                                \
                   swapmeet::as<MPI_Datatype>(recvtype))                                                              \
  }

#define SWAPMEET_ALLTOALLW(name, Name, function, underneath, Count, Displacement)                                  \
  SWAPMEET_NAMED(name, (const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,                 \
                        const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts,                     \
                        const Displacement* rdispls, const MPI_Datatype* recvtypes, Handle comm)) {                \
    swapmeet::Communicator* const known = swapmeet::recent().find(swapmeet::as<MPI_Comm>(comm));                   \
    if (swapmeet::left_to_host(swapmeet::Collective::function, known))                                             \
      return native().underneath(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, \
                                 swapmeet::as<MPI_Comm>(comm));                                                    \
    if (!swapmeet::mpi_suits()) [[unlikely]]                                                                       \
      return swapmeet::pass_on(#Name, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,       \
                               recvtypes, comm);                                                                   \
    SWAPMEET_SERVE(function, underneath, swapmeet::as<MPI_Comm>(comm), sendbuf, sendcounts, sdispls, sendtypes,    \
                   recvbuf, recvcounts, rdispls, recvtypes)                                                        \
  }

#define SWAPMEET_ALL_WITH_ALL(size, ...)                                                                     \
  SWAPMEET_ENTRIES(SWAPMEET_ALLTOALL, Alltoall##size, alltoall, alltoall##size, SWAPMEET_FIRST(__VA_ARGS__)) \
  SWAPMEET_ENTRIES(SWAPMEET_ALLTOALLV, Alltoallv##size, alltoallv, alltoallv##size, __VA_ARGS__)             \
  SWAPMEET_ENTRIES(SWAPMEET_ALLTOALLW, Alltoallw##size, alltoallw, alltoallw##size, __VA_ARGS__)
#define SWAPMEET_WITH_NEIGHBOURS(size, ...)                                                                    \
  SWAPMEET_ENTRIES(SWAPMEET_ALLTOALL, Neighbor_alltoall##size, neighbor_alltoall, neighbor_alltoall##size,     \
                   SWAPMEET_FIRST(__VA_ARGS__))                                                                \
  SWAPMEET_ENTRIES(SWAPMEET_ALLTOALLV, Neighbor_alltoallv##size, neighbor_alltoallv, neighbor_alltoallv##size, \
                   __VA_ARGS__)                                                                                \
  SWAPMEET_ENTRIES(SWAPMEET_ALLTOALLW, Neighbor_alltoallw##size, neighbor_alltoallw, neighbor_alltoallw##size, \
                   SWAPMEET_FIRST(__VA_ARGS__), MPI_Aint)

SWAPMEET_ALL_WITH_ALL(, int, int)
SWAPMEET_WITH_NEIGHBOURS(, int, int)
#if MPI_VERSION >= 4
SWAPMEET_ALL_WITH_ALL(_c, MPI_Count, MPI_Aint)
SWAPMEET_WITH_NEIGHBOURS(_c, MPI_Count, MPI_Aint)
#endif

// The same code under the library's own names. The public header declares them with the parameters of mpi.h.
// Each is a second name of a function own_..., whose handles have the type Handle as above.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
#define SWAPMEET_OWN(name, Name, parameters, ...)                              \
  extern "C" __attribute__((visibility("hidden"))) int own_##name parameters { \
    if (const int error = swapmeet::before_own_function(comm)) return error;   \
    return entry_##Name(__VA_ARGS__, comm);                                    \
  }                                                                            \
  extern "C" __attribute__((visibility("default"), alias("own_" #name))) decltype(name) name;
#define SWAPMEET_OWN_ALL(size, Count, Displacement)                                                                 \
  SWAPMEET_OWN(swapmeet_alltoall##size, MPI_Alltoall##size,                                                         \
               (const void* sendbuf, Count sendcount, Handle sendtype, void* recvbuf, Count recvcount,              \
                Handle recvtype, Handle comm),                                                                      \
               sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)                                          \
  SWAPMEET_OWN(swapmeet_alltoallv##size, MPI_Alltoallv##size,                                                       \
               (const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, Handle sendtype,         \
                void* recvbuf, const Count* recvcounts, const Displacement* rdispls, Handle recvtype, Handle comm), \
               sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype)                      \
  SWAPMEET_OWN(swapmeet_alltoallw##size, MPI_Alltoallw##size,                                                       \
               (const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,                          \
                const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts, const Displacement* rdispls, \
                const MPI_Datatype* recvtypes, Handle comm),                                                        \
               sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes)

SWAPMEET_OWN_ALL(, int, int)
#if MPI_VERSION >= 4
SWAPMEET_OWN_ALL(_c, MPI_Count, MPI_Aint)
#endif

// start.cpp defines macros of the same names and may be compiled as one unit with this file.
#undef SWAPMEET_ALLTOALL
#undef SWAPMEET_ALLTOALLV
#undef SWAPMEET_ALLTOALLW
