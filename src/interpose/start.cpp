/// The MPI entry points of non-blocking and persistent all-to-alls. Both the MPI_ and the PMPI_ names are ours, as in
/// entry.cpp.
#include <atomic>

#include "api/export.hpp"
#include "api/request.hpp"
#include "interpose/foreign.hpp"
#include "interpose/progressed.hpp"
#include "interpose/workers.hpp"
#include "mpi/guard.hpp"
#include "mpi/progress.hpp"
#include "session/communicator.hpp"

namespace swapmeet {

namespace {

/// Who serves these calls in this process: the same in all, if they have the same variables.
enum class By : std::uint8_t { unknown, host, progress, workers };
std::atomic<By> by{By::unknown};

By find_out() {
  int initialised = 0, finalised = 0;
  if (!mpi_suits()) return By::host;
  PMPI_Initialized(&initialised);
  PMPI_Finalized(&finalised);
  if (!initialised || finalised) return By::host;
  attach_to_mpi();
  const bool wanted = context().options.nonblocking == Options::Nonblocking::in_progress;
  by = workers_agreed ? By::workers : wanted && has_progress() ? By::progress : By::host;
  if (wanted && by == By::host && context().options.explain && said().world_rank == 0)
    say_once("Ialltoall, Alltoall_init and their siblings: native (the host MPI calls nobody in its progress)");
  return by;
}

By served_by() {
  const By known = by.load(std::memory_order_relaxed);
  return known == By::unknown ? find_out() : known;
}

/// A call as it came.
template <class Count>
struct Equal {
  EqualSide<Count> send, receive;

  bool mistaken(Rank) const { return static_cast<bool>(mistake_in(send, receive)); }
  Request request(Rank) const { return request_of(send, receive); }
  std::int64_t block_bytes(Communicator& communicator) const {
    return receive.count * communicator.datatypes()[receive.type].size;
  }
  std::optional<int> start_again(StartedQueue& queue, MPI_Request* made) const {
    if (send.base == MPI_IN_PLACE) return std::nullopt;
    return queue.start_again(send.base, send.count, send.type, const_cast<void*>(receive.base), receive.count,
                             receive.type, made);
  }
  static constexpr Collective collective = Collective::alltoall;
};

template <class Count, class Displacement, bool each>
struct Unequal {
  using Side = UnequalSide<Count, Displacement>;
  Side send, receive;

  bool mistaken(Rank ranks) const { return static_cast<bool>(mistake_in(send, receive, each, ranks)); }
  Request request(Rank ranks) const { return request_of(send, receive, each, ranks); }
  std::int64_t block_bytes(Communicator&) const { return 0; }
  std::optional<int> start_again(StartedQueue&, MPI_Request*) const { return std::nullopt; }
  static constexpr Collective collective = each ? Collective::alltoallw : Collective::alltoallv;
};

template <class Count>
Equal<Count> call_of(const void* send, Count send_count, MPI_Datatype send_type, void* receive, Count receive_count,
                     MPI_Datatype receive_type) {
  return {{send, send_count, send_type}, {receive, receive_count, receive_type}};
}

template <class Count, class Displacement>
Unequal<Count, Displacement, false> call_of(const void* send, const Count* send_counts,
                                            const Displacement* send_displacements, const MPI_Datatype& send_type,
                                            void* receive, const Count* receive_counts,
                                            const Displacement* receive_displacements,
                                            const MPI_Datatype& receive_type) {
  return {{send, send_counts, send_displacements, &send_type},
          {receive, receive_counts, receive_displacements, &receive_type}};
}

template <class Count, class Displacement>
Unequal<Count, Displacement, true> call_of(const void* send, const Count* send_counts,
                                           const Displacement* send_displacements,
                                           const MPI_Datatype* const& send_types, void* receive,
                                           const Count* receive_counts, const Displacement* receive_displacements,
                                           const MPI_Datatype* const& receive_types) {
  return {{send, send_counts, send_displacements, send_types},
          {receive, receive_counts, receive_displacements, receive_types}};
}

/// Where a call goes on that the host MPI is to do: on which communicator.
struct Rest {
  MPI_Comm comm;
};

// All return false if the host MPI is to do it.

template <class Call>
bool begin_on_worker(int& error, MPI_Comm comm, MPI_Request* request, const Call& call) {
  Worker* const worker = worker_of(comm);
  if (!worker || call.mistaken(worker->ranks())) return false;
  error = worker->begin(std::make_shared<const Request>(call.request(worker->ranks())), request);
  return true;
}

/// Whether the host MPI is faster as it is: Open MPI's MPI_Ialltoallv of small blocks, on a node, takes less than to keep the
/// arguments of ours (docs/measurements/nonblocking.md), and so does its MPI_Ialltoallw, whose arguments are more. Not where
/// an algorithm is ordered; nor in place, where MPI_Ialltoallv of Open MPI 5.0.11 delivers wrong data from four ranks on.
template <class Call>
bool faster_by_host(const Call& call, const Communicator& communicator) {
  return of_unequal_blocks(Call::collective) && !host_is_mpich && !communicator.options().algorithm &&
         call.send.base != MPI_IN_PLACE;
}

template <class Call>
bool begin_in_progress(int& error, MPI_Comm comm, MPI_Request* request, const Call& call, Rest& rest) {
  Communicator* const communicator = communicator_of(comm, Meeting::later);
  if (!communicator || call.mistaken(communicator->ranks())) return false;
  if (faster_by_host(call, *communicator)) return false;
  const std::int64_t block_bytes = call.block_bytes(*communicator);
  StartedQueue* const queue = communicator->started(Call::collective, block_bytes);
  if (!queue) return false;
  if (const std::optional<int> again = call.start_again(*queue, request)) return error = *again, true;
  if (const auto host = queue->goes_to_host(Call::collective, block_bytes)) return rest.comm = *host, false;
  error = queue->start(call.request(communicator->ranks()), request);
  return true;
}

template <class Call>
bool begin(int& error, MPI_Comm comm, MPI_Request* request, const Call& call, Rest& rest) {
  switch (served_by()) {
    case By::progress: return begin_in_progress(error, comm, request, call, rest);
    case By::workers: return begin_on_worker(error, comm, request, call);
    default: return false;
  }
}

template <class Call>
bool plan_on_worker(int& error, MPI_Comm comm, MPI_Request* request, const Call& call) {
  if (!has_workers(comm)) return false;
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  if (call.mistaken(ranks)) return false;
  error = swapmeet::plan_on_worker(comm, std::make_shared<const Request>(call.request(ranks)), request);
  return true;
}

template <class Call>
bool plan_in_progress(int& error, MPI_Comm comm, MPI_Request* request, const Call& call) {
  Communicator* const communicator = communicator_of(comm);
  if (!communicator || communicator->ranks() > most_told_to_all) return false;
  communicator->be_ready();
  std::optional<Request> what;
  if (!call.mistaken(communicator->ranks())) what.emplace(call.request(communicator->ranks()));
  std::unique_ptr<Planned> planned = communicator->plan_persistent(std::move(what));
  if (!planned) return false;
  error = make_persistent(std::move(planned), request);
  return true;
}

template <class Call>
bool plan(int& error, MPI_Comm comm, MPI_Request* request, const Call& call, Rest&) {
  switch (served_by()) {
    case By::progress: return plan_in_progress(error, comm, request, call);
    case By::workers: return plan_on_worker(error, comm, request, call);
    default: return false;
  }
}

/// Whether `serve` has done it: its error, or that of what it throws, is raised on `comm`.
template <class Serve>
bool served(int& error, MPI_Comm comm, Serve serve) {
  bool done = true;
  if (comm == MPI_COMM_NULL) return false;
  if (const int thrown = guarded([&] { return done = serve(), MPI_SUCCESS; })) error = thrown, done = true;
  if (error) error = raise(comm, error);
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
#define SWAPMEET_BODY(Name, how, arguments, ...)                                                                  \
  {                                                                                                               \
    static void* const underneath = swapmeet::needed_mpi_symbol(#Name);                                           \
    if (!swapmeet::mpi_suits()) [[unlikely]]                                                                      \
      return swapmeet::pass_on(underneath, SWAPMEET_EXPAND arguments, comm, SWAPMEET_ARGUMENT_##how request);     \
    const MPI_Comm user = swapmeet::as<MPI_Comm>(comm);                                                           \
    swapmeet::Rest rest{user};                                                                                    \
    int error = MPI_SUCCESS;                                                                                      \
    const auto serve = [&] { return swapmeet::how(error, user, request, swapmeet::call_of(__VA_ARGS__), rest); }; \
    if (swapmeet::served(error, user, serve)) return error;                                                       \
    error = swapmeet::pass_on(underneath, SWAPMEET_EXPAND arguments, swapmeet::handle_of(rest.comm),              \
                              SWAPMEET_ARGUMENT_##how request);                                                   \
    if (error && rest.comm != user) error = swapmeet::raise(user, error);                                         \
    return error;                                                                                                 \
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
