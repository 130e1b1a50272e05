#include "session/native_exchange.hpp"

#include "engine/engine.hpp"
#include "mpi/outcome.hpp"

#if MPI_VERSION < 4
#define PMPI_Ialltoall_c PMPI_Ialltoall
#define PMPI_Ialltoallv_c PMPI_Ialltoallv
#define PMPI_Ialltoallw_c PMPI_Ialltoallw
#endif

namespace swapmeet {

NativeExchange::Side::Side(const Blocks& blocks, Rank count) : base(blocks.base()) {
  // Blocks without data count as no bytes, because MPICH 5.0 divides by the size of the type. On an intercommunicator
  // one side may have data and the other none.
  if (blocks.equal()) {
    const bool data = blocks.bytes(0) > 0;
    counts.push_back(data ? static_cast<Count>(blocks.count(0)) : 0);
    types.push_back(data ? blocks.type(0).handle : MPI_BYTE);
    return;
  }
  for (Rank i = 0; i < count; ++i) {
    counts.push_back(static_cast<Count>(blocks.count(i)));
    displacements.push_back(static_cast<Displacement>(blocks.displacement(i)));
    types.push_back(blocks.type(i).handle);
  }
}

NativeExchange::NativeExchange(const Arguments& arguments)
    : collective_(arguments.collective), out_(arguments.send, arguments.sent_blocks()),
      in_(arguments.receive, arguments.blocks.in), from_(arguments.in_place ? MPI_IN_PLACE : out_.base) {}

int NativeExchange::start(MPI_Comm comm) {
  MPI_Request started = MPI_REQUEST_NULL;
  int error = MPI_SUCCESS;
  if (collective_ == Collective::alltoall)
    error =
        PMPI_Ialltoall_c(from_, out_.counts[0], out_.types[0], in_.base, in_.counts[0], in_.types[0], comm, &started);
  else if (collective_ == Collective::alltoallv)
    error = PMPI_Ialltoallv_c(from_, out_.counts.data(), out_.displacements.data(), out_.types[0], in_.base,
                              in_.counts.data(), in_.displacements.data(), in_.types[0], comm, &started);
  else
    error = PMPI_Ialltoallw_c(from_, out_.counts.data(), out_.displacements.data(), out_.types.data(), in_.base,
                              in_.counts.data(), in_.displacements.data(), in_.types.data(), comm, &started);
  if (!error) request_ = started;
  return error;
}

int NativeExchange::advance() {
  int done = 0;
  const int error = test_again(request_, done);
  if (!error && !done) return unfinished;
  request_ = MPI_REQUEST_NULL;
  return error;
}

}  // namespace swapmeet
