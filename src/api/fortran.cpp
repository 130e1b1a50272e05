/// What fortran/swapmeet.f90 calls beside the public functions: handles are integers here, as Fortran has them.
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include <type_traits>
#include <vector>

#include "api/export.hpp"

namespace {

/// How many ranks there are to exchange with; 0 if that is an error, which the call proper reports.
int peers_of(MPI_Comm comm) {
  int inter = 0, ranks = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  if (inter)
    PMPI_Comm_remote_size(comm, &ranks);
  else
    PMPI_Comm_size(comm, &ranks);
  return ranks;
}

/// The types of an Alltoallw; of the send side in place they mean nothing, and need not be there.
std::vector<MPI_Datatype> types_of(const void* buffer, const MPI_Fint* types, MPI_Comm comm) {
  std::vector<MPI_Datatype> converted(buffer == MPI_IN_PLACE ? 0 : static_cast<std::size_t>(peers_of(comm)));
  for (MPI_Datatype& type : converted) type = MPI_Type_f2c(*types++);
  return converted;
}

/// An optional spec that is not there is empty.
const char* given(const char* spec) { return *spec ? spec : nullptr; }

/// Stores a plan if the caller wants one (`plan`), else makes the exchange now: through a plan too where the MPI has no
/// such function, for it has no large counts (`call` is nullptr).
template <class Call, class Make, class... Arguments>
int call_or_plan(Call call, Make make, const char* spec, swapmeet_plan** plan, MPI_Comm comm, Arguments... arguments) {
  if (plan) return make(arguments..., comm, given(spec), plan);
  if constexpr (!std::is_null_pointer_v<Call>) {
    return call(arguments..., comm);
  } else {
    swapmeet_plan* made = nullptr;
    int error = make(arguments..., comm, nullptr, &made);
    if (!error) error = swapmeet_plan_start(made);
    if (!error) error = swapmeet_plan_wait(made);
    swapmeet_plan_free(&made);
    if (error && comm != MPI_COMM_NULL) PMPI_Comm_call_errhandler(comm, error);
    return error;
  }
}

}  // namespace

/// The address of a buffer as C has it. Each argument is what a compiler passes for `type(*), dimension(..)`: by the
/// standard that begins with the address, and what else there is differs between compilers.
SWAPMEET_EXPORT void* swapmeet_fortran_buffer(void* const* buffer, void* const* in_place, void* const* bottom) {
  return *buffer == *in_place ? MPI_IN_PLACE : *buffer == *bottom ? MPI_BOTTOM : *buffer;
}

#if MPI_VERSION >= 4
#define SWAPMEET_LARGE(function) function
#else
#define SWAPMEET_LARGE(function) nullptr
#endif

#define SWAPMEET_FORTRAN(suffix, Count, Displacement, AVAILABLE)                                                            \
  SWAPMEET_EXPORT int swapmeet_fortran_alltoall##suffix(const void* sendbuf, Count sendcount, MPI_Fint sendtype,            \
                                                        void* recvbuf, Count recvcount, MPI_Fint recvtype, MPI_Fint comm,   \
                                                        const char* spec, swapmeet_plan** plan) {                           \
    return call_or_plan(AVAILABLE(swapmeet_alltoall##suffix), swapmeet_plan_alltoall##suffix, spec, plan,                   \
                        MPI_Comm_f2c(comm), sendbuf, sendcount, MPI_Type_f2c(sendtype), recvbuf, recvcount,                 \
                        MPI_Type_f2c(recvtype));                                                                            \
  }                                                                                                                         \
  SWAPMEET_EXPORT int swapmeet_fortran_alltoallv##suffix(                                                                   \
      const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, MPI_Fint sendtype, void* recvbuf,          \
      const Count* recvcounts, const Displacement* rdispls, MPI_Fint recvtype, MPI_Fint comm, const char* spec,             \
      swapmeet_plan** plan) {                                                                                               \
    return call_or_plan(AVAILABLE(swapmeet_alltoallv##suffix), swapmeet_plan_alltoallv##suffix, spec, plan,                 \
                        MPI_Comm_f2c(comm), sendbuf, sendcounts, sdispls, MPI_Type_f2c(sendtype), recvbuf, recvcounts,      \
                        rdispls, MPI_Type_f2c(recvtype));                                                                   \
  }                                                                                                                         \
  SWAPMEET_EXPORT int swapmeet_fortran_alltoallw##suffix(                                                                   \
      const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, const MPI_Fint* sendtypes, void* recvbuf,  \
      const Count* recvcounts, const Displacement* rdispls, const MPI_Fint* recvtypes, MPI_Fint comm, const char* spec,     \
      swapmeet_plan** plan) {                                                                                               \
    const MPI_Comm with = MPI_Comm_f2c(comm);                                                                               \
    const std::vector<MPI_Datatype> sent = types_of(sendbuf, sendtypes, with);                                              \
    const std::vector<MPI_Datatype> received = types_of(recvbuf, recvtypes, with);                                          \
    return call_or_plan(AVAILABLE(swapmeet_alltoallw##suffix), swapmeet_plan_alltoallw##suffix, spec, plan, with, sendbuf,  \
                        sendcounts, sdispls, sent.data(), recvbuf, recvcounts, rdispls, received.data());                   \
  }

#define SWAPMEET_ALWAYS(function) function
SWAPMEET_FORTRAN(, int, int, SWAPMEET_ALWAYS)
SWAPMEET_FORTRAN(_c, MPI_Count, MPI_Aint, SWAPMEET_LARGE)

SWAPMEET_EXPORT int swapmeet_fortran_set_algorithm(MPI_Fint comm, const char* spec) {
  return swapmeet_set_algorithm(MPI_Comm_f2c(comm), given(spec));
}

SWAPMEET_EXPORT int swapmeet_fortran_memory_allocate(MPI_Fint comm, MPI_Aint bytes, void** base) {
  return swapmeet_memory_allocate(MPI_Comm_f2c(comm), bytes, base);
}

SWAPMEET_EXPORT int swapmeet_fortran_phases_begin(MPI_Fint comm) { return swapmeet_phases_begin(MPI_Comm_f2c(comm)); }

SWAPMEET_EXPORT int swapmeet_fortran_phases_end(MPI_Fint comm, double* seconds) {
  return swapmeet_phases_end(MPI_Comm_f2c(comm), seconds);
}

SWAPMEET_EXPORT int swapmeet_fortran_trace(MPI_Fint comm, const char* file) {
  return swapmeet_trace(MPI_Comm_f2c(comm), file);
}
