#include "mpi/agreement.hpp"

#include <cstring>
#include <vector>

namespace swapmeet {

int reduce_bytes(void* values, std::size_t bytes, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  constexpr int most_attempts = 3;
  const auto* const now = static_cast<const char*>(values);
  const std::vector<char> mine(now, now + bytes), nothing(bytes, 0x5a);
  std::memcpy(values, nothing.data(), bytes);
  int error = MPI_SUCCESS;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    error = PMPI_Allreduce(mine.data(), values, count, type, operation, comm);
    if (error == MPI_SUCCESS || std::memcmp(values, nothing.data(), bytes) != 0) return MPI_SUCCESS;
  }
  std::memcpy(values, mine.data(), bytes);
  return error;
}

bool same_everywhere(std::uint64_t number, MPI_Comm comm, std::uint64_t& most, std::uint64_t& least) {
  std::uint64_t all[] = {number, ~number, ~most, least};
  if (reduce(std::span(all), MPI_UINT64_T, MPI_MIN, comm) != MPI_SUCCESS) return false;
  most = ~all[2];
  least = all[3];
  return all[0] == ~all[1];
}

std::int64_t most_of_any_rank(std::int64_t number, MPI_Comm comm) {
  reduce(std::span(&number, 1), MPI_INT64_T, MPI_MAX, comm);
  return number;
}

int most_tag() {
  int* most = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  return found ? *most : 32767;  // as little as MPI allows
}

// Not MPI_Comm_dup, which would call the application's attribute callbacks; nor may a failure reach its error handler.
MPI_Comm same_ranks(MPI_Comm user) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_group(user, &group) != MPI_SUCCESS || PMPI_Comm_get_errhandler(user, &handler) != MPI_SUCCESS)
    return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(user, MPI_ERRORS_RETURN);
  for (int attempt = 0; attempt < 2 && comm == MPI_COMM_NULL; ++attempt)  // once more: the other ranks wait in it
    PMPI_Comm_create(user, group, &comm);
  PMPI_Comm_set_errhandler(user, handler);
  PMPI_Errhandler_free(&handler);
  PMPI_Group_free(&group);
  if (comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

}  // namespace swapmeet
