/// Messages with counts beyond INT_MAX, which are sent as one element of a derived type.
#include "mpi/mpi.hpp"

namespace swapmeet {

namespace {

/// Makes a committed type of `count` elements of `type`, which the caller must free. Returns an MPI error code.
int make_large_type(std::int64_t count, MPI_Datatype type, MPI_Datatype* large) {
  constexpr std::int64_t chunk_count = std::int64_t{1} << 30;
  MPI_Aint lower_bound = 0, extent = 0;
  MPI_Datatype chunk = MPI_DATATYPE_NULL;
  int error = PMPI_Type_get_extent(type, &lower_bound, &extent);
  if (error == MPI_SUCCESS) error = PMPI_Type_contiguous(static_cast<int>(chunk_count), type, &chunk);
  if (error != MPI_SUCCESS) return error;
  int lengths[] = {static_cast<int>(count / chunk_count), static_cast<int>(count % chunk_count)};
  MPI_Aint places[] = {0, count / chunk_count * chunk_count * extent};
  MPI_Datatype types[] = {chunk, type};
  error = PMPI_Type_create_struct(2, lengths, places, types, large);
  PMPI_Type_free(&chunk);
  return error == MPI_SUCCESS ? PMPI_Type_commit(large) : error;
}

/// Calls `use(count, type)` with a count and a type that describe `part`, such that the count fits an int.
template <class Use>
int with_int_count(const Part& part, Use use) {
  if (part.count <= INT_MAX) return use(static_cast<int>(part.count), part.type);
  MPI_Datatype large = MPI_DATATYPE_NULL;
  if (const int error = make_large_type(part.count, part.type, &large)) return error;
  const int error = use(1, large);
  PMPI_Type_free(&large);  // MPI keeps the type alive for messages in flight
  return error;
}

}  // namespace

int imrecv_large(Part part, MPI_Message* message, MPI_Request* request) {
  return with_int_count(
      part, [&](int count, MPI_Datatype type) { return PMPI_Imrecv(part.address, count, type, message, request); });
}

int isend_large(Part part, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return with_int_count(part, [&](int count, MPI_Datatype type) {
    return PMPI_Isend(part.address, count, type, to, tag, comm, request);
  });
}

int issend_large(Part part, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return with_int_count(part, [&](int count, MPI_Datatype type) {
    return PMPI_Issend(part.address, count, type, to, tag, comm, request);
  });
}

int irecv_large(Part part, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  return with_int_count(part, [&](int count, MPI_Datatype type) {
    return PMPI_Irecv(part.address, count, type, from, tag, comm, request);
  });
}

int sendrecv_large(Part out, int to, int out_tag, Part in, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  return with_int_count(out, [&](int out_count, MPI_Datatype out_type) {
    return with_int_count(in, [&](int in_count, MPI_Datatype in_type) {
      return PMPI_Sendrecv(out.address, out_count, out_type, to, out_tag, in.address, in_count, in_type, from, in_tag,
                           comm, status);
    });
  });
}

}  // namespace swapmeet
