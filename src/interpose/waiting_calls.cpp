/// The entry points MPI_Barrier, MPI_Allreduce and MPI_Allgather. In these calls every rank waits for all others, so a
/// communicator may be set up there for non-blocking exchanges whose starts cannot do so (session/starts.hpp). If
/// no communicator awaits that, the call is passed to the host MPI at once.
#include "api/export.hpp"
#include "interpose/foreign.hpp"
#include "mpi/guard.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

using swapmeet::Handle;

namespace {

[[gnu::noinline, gnu::cold]] void prepare(MPI_Comm comm) {
  swapmeet::guarded([&] {
    if (swapmeet::Communicator* const communicator = swapmeet::kept_for(comm)) communicator->starts().prepare_wanted();
    return MPI_SUCCESS;
  });
}

}  // namespace

#define SWAPMEET_WAITING(name, Name, parameters, ...)                                  \
  SWAPMEET_NAMED(name, parameters) {                                                   \
    static void* const underneath = swapmeet::needed_mpi_symbol(#name);                \
    if (swapmeet::waiting_for_set_up.load(std::memory_order_relaxed) > 0) [[unlikely]] \
      prepare(swapmeet::as<MPI_Comm>(comm));                                           \
    return swapmeet::pass_on(underneath, __VA_ARGS__);                                 \
  }

SWAPMEET_ENTRIES(SWAPMEET_WAITING, Barrier, (Handle comm), comm)
SWAPMEET_ENTRIES(SWAPMEET_WAITING, Allreduce,
                 (const void* sendbuf, void* recvbuf, int count, Handle datatype, Handle op, Handle comm), sendbuf,
                 recvbuf, count, datatype, op, comm)
SWAPMEET_ENTRIES(SWAPMEET_WAITING, Allgather,
                 (const void* sendbuf, int sendcount, Handle sendtype, void* recvbuf, int recvcount, Handle recvtype,
                  Handle comm),
                 sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
