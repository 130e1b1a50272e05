/// The only way to mpi.h: without its C++ bindings, and with the calls that we make by their PMPI_ names, so that no
/// tool and not we ourselves see our own traffic.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstdint>

#include "mpi/symbols.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

/// Part of a buffer: `count` elements of `type` from `address` on. count = 0: nothing, no message.
struct Part {
  void* address;
  std::int64_t count;
  MPI_Datatype type;
};

// Counts beyond INT_MAX travel as one element of a derived type: large.cpp. It works with every MPI, also one without
// large-count calls.
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

/// It is over when its receiver has begun to receive it.
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
