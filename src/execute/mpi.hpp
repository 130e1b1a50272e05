/// The only way to mpi.h: without its C++ bindings, and with the calls that we make by their PMPI_ names, so that no
/// tool and not we ourselves see our own traffic.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstdint>

namespace swapmeet {

/// Part of a buffer: `count` elements of `type` from `address` on. count = 0: nothing, no message.
struct Part {
  void* address;
  std::int64_t count;
  MPI_Datatype type;
};

/// A committed type of `count` > INT_MAX elements of `type`; the caller frees it. Works with every MPI, also without
/// large-count calls.
int make_large_type(std::int64_t count, MPI_Datatype type, MPI_Datatype* large);

/// Calls `use(count, type)` with the count and type of `part`, in a form that fits an int.
template <class Use>
int with_int_count(const Part& part, Use use) {
  if (part.count <= INT_MAX) [[likely]]
    return use(static_cast<int>(part.count), part.type);
  MPI_Datatype large = MPI_DATATYPE_NULL;
  if (const int error = make_large_type(part.count, part.type, &large)) return error;
  const int error = use(1, large);
  PMPI_Type_free(&large);  // messages in flight keep it
  return error;
}

inline int isend(const Part& part, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return with_int_count(part, [&](int count, MPI_Datatype type) {
    return PMPI_Isend(part.address, count, type, to, tag, comm, request);
  });
}

inline int irecv(const Part& part, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  return with_int_count(part, [&](int count, MPI_Datatype type) {
    return PMPI_Irecv(part.address, count, type, from, tag, comm, request);
  });
}

inline int sendrecv(const Part& out, int to, const Part& in, int from, int tag, MPI_Comm comm) {
  return with_int_count(out, [&](int out_count, MPI_Datatype out_type) {
    return with_int_count(in, [&](int in_count, MPI_Datatype in_type) {
      return PMPI_Sendrecv(out.address, out_count, out_type, to, tag, in.address, in_count, in_type, from, tag, comm,
                           MPI_STATUS_IGNORE);
    });
  });
}

}  // namespace swapmeet
