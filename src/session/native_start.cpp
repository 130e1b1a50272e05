#include "session/native_start.hpp"

#include "mpi/native.hpp"

namespace swapmeet {

namespace {

int start_equal(const void* from, const OwnedBlocks& send, const OwnedBlocks& receive, MPI_Comm comm,
                MPI_Request* request) {
  if (receive.blocks().bytes(0) == 0)  // MPICH 5.0 divides by the size of the type
    return native().ialltoall(from, 0, MPI_BYTE, receive.base(), 0, MPI_BYTE, comm, request);
  const std::int64_t sent = std::get<0>(send.sizes()), received = std::get<0>(receive.sizes());
#if MPI_VERSION >= 4
  if (sent > INT_MAX || received > INT_MAX)
    return native().ialltoall_c(from, sent, *send.types(), receive.base(), received, *receive.types(), comm, request);
#endif
  return native().ialltoall(from, static_cast<int>(sent), *send.types(), receive.base(), static_cast<int>(received),
                            *receive.types(), comm, request);
}

int start_unequal(Collective collective, const void* from, const OwnedBlocks& send, const OwnedBlocks& receive,
                  MPI_Comm comm, MPI_Request* request) {
  const bool typed = collective == Collective::alltoallw;
#if MPI_VERSION >= 4
  if (receive.sizes().index() == 2) {
    const auto &out = std::get<2>(send.sizes()), &in = std::get<2>(receive.sizes());
    return typed
               ? native().ialltoallw_c(from, out.counts.data(), out.displacements.data(), send.types(), receive.base(),
                                       in.counts.data(), in.displacements.data(), receive.types(), comm, request)
               : native().ialltoallv_c(from, out.counts.data(), out.displacements.data(), *send.types(), receive.base(),
                                       in.counts.data(), in.displacements.data(), *receive.types(), comm, request);
  }
#endif
  const auto &out = std::get<1>(send.sizes()), &in = std::get<1>(receive.sizes());
  return typed ? native().ialltoallw(from, out.counts.data(), out.displacements.data(), send.types(), receive.base(),
                                     in.counts.data(), in.displacements.data(), receive.types(), comm, request)
               : native().ialltoallv(from, out.counts.data(), out.displacements.data(), *send.types(), receive.base(),
                                     in.counts.data(), in.displacements.data(), *receive.types(), comm, request);
}

}  // namespace

int start_native(Collective collective, const OwnedBlocks* send, const OwnedBlocks& receive, MPI_Comm comm,
                 MPI_Request* request) {
  const void* const from = send ? send->base() : MPI_IN_PLACE;
  const OwnedBlocks& sent = send ? *send : receive;  // MPI ignores it with MPI_IN_PLACE
  return collective == Collective::alltoall ? start_equal(from, sent, receive, comm, request)
                                            : start_unequal(collective, from, sent, receive, comm, request);
}

}  // namespace swapmeet
