/// The MPI entry points of non-blocking and persistent all-to-alls, for those communicators that have workers. Both the
/// MPI_ and the PMPI_ names are ours, as in entry.cpp.
#include "api/export.hpp"
#include "api/request.hpp"
#include "interpose/foreign.hpp"
#include "interpose/workers.hpp"
#include "mpi/guard.hpp"

namespace swapmeet {

namespace {

// Each keeps the arguments of a call; nullptr: they have a mistake.

template <class Count>
Worker::Exchange kept(Rank, const void* send, Count send_count, MPI_Datatype send_type, void* receive,
                      Count receive_count, MPI_Datatype receive_type) {
  const EqualSide<Count> out{send, send_count, send_type}, in{receive, receive_count, receive_type};
  if (mistake_in(out, in)) return nullptr;
  return std::make_shared<const Request>(request_of(out, in));
}

template <class Side>
Worker::Exchange kept(bool each, Rank ranks, const Side& send, const Side& receive) {
  if (mistake_in(send, receive, each, ranks)) return nullptr;
  return std::make_shared<const Request>(request_of(send, receive, each, ranks));
}

template <class Count, class Displacement>
Worker::Exchange kept(Rank ranks, const void* send, const Count* send_counts, const Displacement* send_displacements,
                      MPI_Datatype send_type, void* receive, const Count* receive_counts,
                      const Displacement* receive_displacements, MPI_Datatype receive_type) {
  using Side = UnequalSide<Count, Displacement>;
  return kept(false, ranks, Side{send, send_counts, send_displacements, &send_type},
              Side{receive, receive_counts, receive_displacements, &receive_type});
}

template <class Count, class Displacement>
Worker::Exchange kept(Rank ranks, const void* send, const Count* send_counts, const Displacement* send_displacements,
                      const MPI_Datatype* send_types, void* receive, const Count* receive_counts,
                      const Displacement* receive_displacements, const MPI_Datatype* receive_types) {
  using Side = UnequalSide<Count, Displacement>;
  return kept(true, ranks, Side{send, send_counts, send_displacements, send_types},
              Side{receive, receive_counts, receive_displacements, receive_types});
}

// Both return false if the host MPI is to do it.

template <class... Arguments>
bool begin(int& error, MPI_Comm comm, MPI_Request* request, Arguments... arguments) {
  Worker* const worker = worker_of(comm);
  Worker::Exchange exchange = worker ? kept(worker->ranks(), arguments...) : nullptr;
  if (!exchange) return false;
  error = worker->begin(std::move(exchange), request);
  return true;
}

template <class... Arguments>
bool plan(int& error, MPI_Comm comm, MPI_Request* request, Arguments... arguments) {
  if (!has_workers(comm)) return false;
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  Worker::Exchange exchange = kept(ranks, arguments...);
  if (!exchange) return false;
  error = plan_on_worker(comm, std::move(exchange), request);
  return true;
}

/// Whether `serve` has done it: its error, or that of what it throws, is raised on `comm`.
template <class Serve>
bool served(int& error, MPI_Comm comm, Serve serve) {
  bool done = true;
  if (const int thrown = guarded([&] { return done = serve(), MPI_SUCCESS; })) error = thrown;
  if (error) PMPI_Comm_call_errhandler(comm, error);
  return done;
}

}  // namespace

}  // namespace swapmeet

using swapmeet::Handle;

// `how`: begin or plan, which takes an MPI_Info more. Handles are taken as they come (see entry.cpp).
#define SWAPMEET_PARAMETER_begin
#define SWAPMEET_PARAMETER_plan Handle info,
#define SWAPMEET_ARGUMENT_begin
#define SWAPMEET_ARGUMENT_plan info,

// `arguments`: as they came.
#define SWAPMEET_BODY(Name, how, arguments, ...)                                                                      \
  {                                                                                                                   \
    if (swapmeet::workers_agreed.load(std::memory_order_relaxed)) {                                                   \
      int error = MPI_SUCCESS;                                                                                        \
      if (swapmeet::served(error, swapmeet::as<MPI_Comm>(comm),                                                       \
                           [&] { return swapmeet::how(error, swapmeet::as<MPI_Comm>(comm), request, __VA_ARGS__); })) \
        return error;                                                                                                 \
    }                                                                                                                 \
    static void* const underneath = swapmeet::needed_mpi_symbol(#Name);                                               \
    return swapmeet::pass_on(underneath, SWAPMEET_EXPAND arguments, comm, SWAPMEET_ARGUMENT_##how request);           \
  }
#define SWAPMEET_EXPAND(...) __VA_ARGS__

#define SWAPMEET_ALLTOALL(name, Name, how, Count)                                                              \
  SWAPMEET_NAMED(name, (const void* sendbuf, Count sendcount, Handle sendtype, void* recvbuf, Count recvcount, \
                        Handle recvtype, Handle comm, SWAPMEET_PARAMETER_##how MPI_Request* request))          \
  SWAPMEET_BODY(Name, how, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype), sendbuf, sendcount,   \
                swapmeet::as<MPI_Datatype>(sendtype), recvbuf, recvcount, swapmeet::as<MPI_Datatype>(recvtype))

#define SWAPMEET_ALLTOALLV(name, Name, how, Count, Displacement)                                                      \
  SWAPMEET_NAMED(name, (const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, Handle sendtype,   \
                        void* recvbuf, const Count* recvcounts, const Displacement* rdispls, Handle recvtype,         \
                        Handle comm, SWAPMEET_PARAMETER_##how MPI_Request* request))                                  \
  SWAPMEET_BODY(Name, how, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype), sendbuf, \
                sendcounts, sdispls, swapmeet::as<MPI_Datatype>(sendtype), recvbuf, recvcounts, rdispls,              \
                swapmeet::as<MPI_Datatype>(recvtype))

#define SWAPMEET_ALLTOALLW(name, Name, how, Count, Displacement)                                                       \
  SWAPMEET_NAMED(                                                                                                      \
      name, (const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, const MPI_Datatype* sendtypes, \
             void* recvbuf, const Count* recvcounts, const Displacement* rdispls, const MPI_Datatype* recvtypes,       \
             Handle comm, SWAPMEET_PARAMETER_##how MPI_Request* request))                                              \
  SWAPMEET_BODY(Name, how, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes),         \
                sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes)

#define SWAPMEET_THREE(begins, ends, how, ...)                                                 \
  SWAPMEET_ENTRIES(SWAPMEET_ALLTOALL, begins##lltoall##ends, how, SWAPMEET_FIRST(__VA_ARGS__)) \
  SWAPMEET_ENTRIES(SWAPMEET_ALLTOALLV, begins##lltoallv##ends, how, __VA_ARGS__)               \
  SWAPMEET_ENTRIES(SWAPMEET_ALLTOALLW, begins##lltoallw##ends, how, __VA_ARGS__)
#define SWAPMEET_FIRST(first, ...) first

SWAPMEET_THREE(Ia, , begin, int, int)
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5  // which has these, but says that it is MPI 3
SWAPMEET_THREE(A, _init, plan, int, int)
#endif
#if MPI_VERSION >= 4
SWAPMEET_THREE(Ia, _c, begin, MPI_Count, MPI_Aint)
SWAPMEET_THREE(A, _init_c, plan, MPI_Count, MPI_Aint)
#endif
