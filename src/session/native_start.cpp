#include "session/native_start.hpp"

#include "mpi/mpi.hpp"

namespace swapmeet {

namespace {

int start_equal(const void* from, const OwnedBlocks& send, const OwnedBlocks& receive, MPI_Comm comm,
                MPI_Request* request) {
  // Blocks without data count as no bytes, because MPICH 5.0 divides by the size of the type. On an intercommunicator
  // one side may have data and the other none.
  const auto count = [](const OwnedBlocks& side) -> std::int64_t {
    return side.blocks().bytes(0) > 0 ? std::get<0>(side.sizes()) : 0;
  };
  const std::int64_t sent = count(send), received = count(receive);
  const MPI_Datatype sent_type = sent > 0 ? *send.types() : MPI_BYTE;
  const MPI_Datatype received_type = received > 0 ? *receive.types() : MPI_BYTE;
#if MPI_VERSION >= 4
  if (sent > INT_MAX || received > INT_MAX)
    return PMPI_Ialltoall_c(from, sent, sent_type, receive.base(), received, received_type, comm, request);
#endif
  return PMPI_Ialltoall(from, static_cast<int>(sent), sent_type, receive.base(), static_cast<int>(received),
                        received_type, comm, request);
}

int start_unequal(Collective collective, const void* from, const OwnedBlocks& send, const OwnedBlocks& receive,
                  MPI_Comm comm, MPI_Request* request) {
  const bool typed = collective == Collective::alltoallw;
#if MPI_VERSION >= 4
  if (receive.sizes().index() == 2) {
    const auto &out = std::get<2>(send.sizes()), &in = std::get<2>(receive.sizes());
    return typed ? PMPI_Ialltoallw_c(from, out.counts.data(), out.displacements.data(), send.types(), receive.base(),
                                     in.counts.data(), in.displacements.data(), receive.types(), comm, request)
                 : PMPI_Ialltoallv_c(from, out.counts.data(), out.displacements.data(), *send.types(), receive.base(),
                                     in.counts.data(), in.displacements.data(), *receive.types(), comm, request);
  }
#endif
  const auto &out = std::get<1>(send.sizes()), &in = std::get<1>(receive.sizes());
  return typed ? PMPI_Ialltoallw(from, out.counts.data(), out.displacements.data(), send.types(), receive.base(),
                                 in.counts.data(), in.displacements.data(), receive.types(), comm, request)
               : PMPI_Ialltoallv(from, out.counts.data(), out.displacements.data(), *send.types(), receive.base(),
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
