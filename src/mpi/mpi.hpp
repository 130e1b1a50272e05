/// MPI for the files of this library, which include this file to call MPI functions. The library's own calls use the
/// PMPI_ names, so that neither tools nor the library itself intercept them. mpi/symbols.hpp replaces these names by
/// pointers to the host MPI's functions. The C++ bindings of mpi.h are left out (cmake/mpi.cmake).
#pragma once

#include <mpi.h>

#include <climits>
#include <cstdint>

#include "mpi/symbols.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

/// Part of a buffer: `count` elements of `type`, beginning at `address`. If `count` is 0, there is no message.
struct Part {
  void* address;
  std::int64_t count;
  MPI_Datatype type;
};

/// The attribute of `comm` with this key; nullptr if it has none. Local.
inline void* attribute_of(MPI_Comm comm, int keyval) {
  void* attribute = nullptr;
  int found = 0;
  const bool asked =
      keyval != MPI_KEYVAL_INVALID && PMPI_Comm_get_attr(comm, keyval, &attribute, &found) == MPI_SUCCESS;
  return asked && found ? attribute : nullptr;
}

// Messages with counts beyond INT_MAX. They are sent as one element of a derived type (large.cpp), which works with
// every MPI, also one without large-count functions.
int isend_large(Part part, int to, int tag, MPI_Comm comm, MPI_Request* request);
int issend_large(Part part, int to, int tag, MPI_Comm comm, MPI_Request* request);
int irecv_large(Part part, int from, int tag, MPI_Comm comm, MPI_Request* request);
int imrecv_large(Part part, MPI_Message* message, MPI_Request* request);
int sendrecv_large(Part out, int to, int out_tag, Part in, int from, int in_tag, MPI_Comm comm, MPI_Status* status);

inline int isend(const Part& part, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  settle();
  if (part.count <= INT_MAX) [[likely]]
    return PMPI_Isend(part.address, static_cast<int>(part.count), part.type, to, tag, comm, request);
  return isend_large(part, to, tag, comm, request);
}

/// Starts a synchronous send, which completes when its receiver has begun to receive the message.
inline int issend(const Part& part, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  settle();
  if (part.count <= INT_MAX) [[likely]]
    return PMPI_Issend(part.address, static_cast<int>(part.count), part.type, to, tag, comm, request);
  return issend_large(part, to, tag, comm, request);
}

inline int irecv(const Part& part, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  if (part.count <= INT_MAX) [[likely]]
    return PMPI_Irecv(part.address, static_cast<int>(part.count), part.type, from, tag, comm, request);
  return irecv_large(part, from, tag, comm, request);
}

inline int imrecv(const Part& part, MPI_Message* message, MPI_Request* request) {
  if (part.count <= INT_MAX) [[likely]]
    return PMPI_Imrecv(part.address, static_cast<int>(part.count), part.type, message, request);
  return imrecv_large(part, message, request);
}

[[gnu::always_inline]] inline int sendrecv(const Part& out, int to, int out_tag, const Part& in, int from, int in_tag,
                                           MPI_Comm comm, MPI_Status* status) {
  settle();
  if (out.count <= INT_MAX && in.count <= INT_MAX) [[likely]]
    return PMPI_Sendrecv(out.address, static_cast<int>(out.count), out.type, to, out_tag, in.address,
                         static_cast<int>(in.count), in.type, from, in_tag, comm, status);
  return sendrecv_large(out, to, out_tag, in, from, in_tag, comm, status);
}

}  // namespace swapmeet
