/// Counts beyond INT_MAX, as one element of a derived type.
#include "execute/mpi.hpp"

namespace swapmeet {

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

}  // namespace swapmeet
