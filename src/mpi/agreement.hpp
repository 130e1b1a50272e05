/// What the ranks of a communicator settle together.
#pragma once

#include <cstdint>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// Whether all ranks of `comm` have this number. `most` becomes the largest of any rank, `least` the smallest. Collective.
bool same_everywhere(std::uint64_t number, MPI_Comm comm, std::uint64_t& most, std::uint64_t& least);
inline bool same_everywhere(std::uint64_t number, MPI_Comm comm) {
  std::uint64_t nothing = 0, neither = 0;
  return same_everywhere(number, comm, nothing, neither);
}

/// The largest `number` of all ranks. Collective.
std::int64_t most_of_any_rank(std::int64_t number, MPI_Comm comm);

/// A communicator with the ranks of `user`, whose errors return. Collective. MPI_COMM_NULL if MPI has none left (MPICH
/// has 2048).
MPI_Comm same_ranks(MPI_Comm user);

}  // namespace swapmeet
