/// Functions that fortran/swapmeet.f90 calls in addition to the public ones. Their handles are integers, as in Fortran.
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include <climits>
#include <list>
#include <vector>

#include "api/export.hpp"
#include "api/failure.hpp"
#include "mpi/world_ranks.hpp"

namespace swapmeet {

#ifdef MPI_ABI_VERSION
using MPI_Fint = int;
#endif

namespace {

MPI_Comm communicator_from(MPI_Fint comm) {
  if (!mpi_suits()) return MPI_Comm{};
#ifdef MPI_ABI_VERSION
  return PMPI_Comm_fromint(comm);
#else
  return PMPI_Comm_f2c(comm);
#endif
}

MPI_Datatype type_from(MPI_Fint type) {
  if (!mpi_suits()) return MPI_Datatype{};
#ifdef MPI_ABI_VERSION
  return PMPI_Type_fromint(type);
#else
  return PMPI_Type_f2c(type);
#endif
}

/// The types of one side of an Alltoallw. For the send side of a call in place the result is empty: `types` need not be
/// an array then. So it is if `comm` is invalid, which the actual call then reports.
std::vector<MPI_Datatype> types_of(const void* buffer, const MPI_Fint* types, MPI_Comm comm) {
  std::vector<MPI_Datatype> converted(buffer == MPI_IN_PLACE ? 0 : static_cast<std::size_t>(peers_of(comm)));
  for (MPI_Datatype& type : converted) type = type_from(*types++);
  return converted;
}

/// The spec, or nullptr if it is empty: Fortran passes an absent optional argument as "".
const char* given(const char* spec) { return *spec ? spec : nullptr; }

/// Makes a plan by `make` if the caller wants one (`plan` is not nullptr); otherwise makes the exchange by `call`.
template <class Call, class Make, class... Arguments>
int call_or_plan(Call call, Make make, const char* spec, swapmeet_plan** plan, MPI_Comm comm, Arguments... arguments) {
  return plan ? make(arguments..., comm, given(spec), plan) : call(arguments..., comm);
}

/// Returns `error`, after raising it on `comm` if it is an error of an exchange. Errors of plans are only returned.
int raised(int error, MPI_Comm comm, const void* plan) {
  if (!plan && find_mpi()) PMPI_Comm_call_errhandler(comm, error);
  return error;
}

#if MPI_VERSION < 4
/// Conversion of large counts to int, for an MPI without large-count functions.
class Narrowed {
 public:
  /// Converts a value.
  template <class Integer>
  int operator()(Integer value) {
    fit_ = fit_ && value >= INT_MIN && value <= INT_MAX;
    return static_cast<int>(value);
  }

  /// Converts an array with one element for each peer. The result is valid as long as this object lives.
  template <class Integer>
  const int* operator()(const void* buffer, const Integer* values, MPI_Fint comm) {
    std::vector<int>& narrow = kept_.emplace_back(buffer == MPI_IN_PLACE ? 0 : peers_of(communicator_from(comm)));
    for (int& value : narrow) value = (*this)(*values++);
    return narrow.data();
  }

  /// The error if a value did not fit an int; otherwise MPI_SUCCESS.
  int error() const {
    return fit_ ? MPI_SUCCESS
                : failed(MPI_ERR_COUNT, "a count or displacement exceeds an int, and this MPI has no larger ones");
  }

 private:
  std::list<std::vector<int>> kept_;
  bool fit_ = true;
};
#endif

}  // namespace

/// The address of a Fortran buffer, in which Fortran's MPI_IN_PLACE and MPI_BOTTOM become those of C. Each argument is
/// the descriptor that a compiler passes for `type(*), dimension(..)`. By the standard it begins with the address; its
/// other members differ between compilers.
SWAPMEET_EXPORT void* swapmeet_fortran_buffer(void* const* buffer, void* const* in_place, void* const* bottom) {
  return *buffer == *in_place ? MPI_IN_PLACE : *buffer == *bottom ? MPI_BOTTOM : *buffer;
}

#define SWAPMEET_FORTRAN(suffix, Count, Displacement)                                                                \
  SWAPMEET_EXPORT int swapmeet_fortran_alltoall##suffix(const void* sendbuf, Count sendcount, MPI_Fint sendtype,     \
                                                        void* recvbuf, Count recvcount, MPI_Fint recvtype,           \
                                                        MPI_Fint comm, const char* spec, swapmeet_plan** plan) {     \
    return call_or_plan(swapmeet_alltoall##suffix, swapmeet_plan_alltoall##suffix, spec, plan,                       \
                        communicator_from(comm), sendbuf, sendcount, type_from(sendtype), recvbuf, recvcount,        \
                        type_from(recvtype));                                                                        \
  }                                                                                                                  \
  SWAPMEET_EXPORT int swapmeet_fortran_alltoallv##suffix(                                                            \
      const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, MPI_Fint sendtype, void* recvbuf,   \
      const Count* recvcounts, const Displacement* rdispls, MPI_Fint recvtype, MPI_Fint comm, const char* spec,      \
      swapmeet_plan** plan) {                                                                                        \
    return call_or_plan(swapmeet_alltoallv##suffix, swapmeet_plan_alltoallv##suffix, spec, plan,                     \
                        communicator_from(comm), sendbuf, sendcounts, sdispls, type_from(sendtype), recvbuf,         \
                        recvcounts, rdispls, type_from(recvtype));                                                   \
  }                                                                                                                  \
  SWAPMEET_EXPORT int swapmeet_fortran_alltoallw##suffix(                                                            \
      const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, const MPI_Fint* sendtypes,          \
      void* recvbuf, const Count* recvcounts, const Displacement* rdispls, const MPI_Fint* recvtypes, MPI_Fint comm, \
      const char* spec, swapmeet_plan** plan) {                                                                      \
    const MPI_Comm with = communicator_from(comm);                                                                   \
    std::vector<MPI_Datatype> sent, received;                                                                        \
    const int lacking = guarded_call([&]() -> int {                                                                  \
      sent = types_of(sendbuf, sendtypes, with);                                                                     \
      received = types_of(recvbuf, recvtypes, with);                                                                 \
      return MPI_SUCCESS;                                                                                            \
    });                                                                                                              \
    if (lacking) return raised(lacking, with, plan);                                                                 \
    return call_or_plan(swapmeet_alltoallw##suffix, swapmeet_plan_alltoallw##suffix, spec, plan, with, sendbuf,      \
                        sendcounts, sdispls, sent.data(), recvbuf, recvcounts, rdispls, received.data());            \
  }

SWAPMEET_FORTRAN(, int, int)
#if MPI_VERSION >= 4
SWAPMEET_FORTRAN(_c, MPI_Count, MPI_Aint)
#else
SWAPMEET_EXPORT int swapmeet_fortran_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Fint sendtype,
                                                void* recvbuf, MPI_Count recvcount, MPI_Fint recvtype, MPI_Fint comm,
                                                const char* spec, swapmeet_plan** plan) {
  Narrowed narrow;
  const int sent = sendbuf == MPI_IN_PLACE ? 0 : narrow(sendcount), received = narrow(recvcount);
  const int error = narrow.error();
  return error ? raised(error, communicator_from(comm), plan)
               : swapmeet_fortran_alltoall(sendbuf, sent, sendtype, recvbuf, received, recvtype, comm, spec, plan);
}

#define SWAPMEET_NARROWED(function, Type)                                                                              \
  SWAPMEET_EXPORT int function##_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,          \
                                   Type sendtype, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, \
                                   Type recvtype, MPI_Fint comm, const char* spec, swapmeet_plan** plan) {             \
    Narrowed narrow;                                                                                                   \
    const int *counts = nullptr, *places = nullptr, *received = nullptr, *into = nullptr;                              \
    const int error = guarded_call([&]() -> int {                                                                      \
      counts = narrow(sendbuf, sendcounts, comm);                                                                      \
      places = narrow(sendbuf, sdispls, comm);                                                                         \
      received = narrow(recvbuf, recvcounts, comm);                                                                    \
      into = narrow(recvbuf, rdispls, comm);                                                                           \
      return narrow.error();                                                                                           \
    });                                                                                                                \
    return error ? raised(error, communicator_from(comm), plan)                                                        \
                 : function(sendbuf, counts, places, sendtype, recvbuf, received, into, recvtype, comm, spec, plan);   \
  }
SWAPMEET_NARROWED(swapmeet_fortran_alltoallv, MPI_Fint)
SWAPMEET_NARROWED(swapmeet_fortran_alltoallw, const MPI_Fint*)
#endif

SWAPMEET_EXPORT int swapmeet_fortran_set_algorithm(MPI_Fint comm, const char* spec) {
  return swapmeet_set_algorithm(communicator_from(comm), given(spec));
}

SWAPMEET_EXPORT int swapmeet_fortran_sparse_alltoallv(const void* sendbuf, int messages, const int* destinations,
                                                      const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                                      MPI_Fint sendtype, MPI_Fint comm,
                                                      swapmeet_sparse_messages** received) {
  return swapmeet_sparse_alltoallv(sendbuf, messages, destinations, sendcounts, sdispls, type_from(sendtype),
                                   communicator_from(comm), received);
}

SWAPMEET_EXPORT int swapmeet_fortran_memory_allocate(MPI_Fint comm, MPI_Aint bytes, void** base) {
  return swapmeet_memory_allocate(communicator_from(comm), bytes, base);
}

SWAPMEET_EXPORT int swapmeet_fortran_phases_begin(MPI_Fint comm) {
  return swapmeet_phases_begin(communicator_from(comm));
}

SWAPMEET_EXPORT int swapmeet_fortran_phases_end(MPI_Fint comm, double* seconds) {
  return swapmeet_phases_end(communicator_from(comm), seconds);
}

SWAPMEET_EXPORT int swapmeet_fortran_trace(MPI_Fint comm, const char* file) {
  return swapmeet_trace(communicator_from(comm), file);
}

}  // namespace swapmeet
