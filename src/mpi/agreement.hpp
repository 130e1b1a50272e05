/// What the ranks of a communicator settle together.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// An allreduce of `values` in place. A call that fails is made again, unless its results are there nonetheless: what
/// failed is often over then, and the other ranks wait in it. After an error they are what they were.
int reduce_bytes(void* values, std::size_t bytes, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm);
template <class Values>
int reduce(Values&& values, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  return reduce_bytes(std::data(values), std::size(values) * sizeof *std::data(values),
                      static_cast<int>(std::size(values)), type, operation, comm);
}

/// Whether all ranks of `comm` have this number. `most` becomes the largest of any rank, `least` the smallest. Collective.
bool same_everywhere(std::uint64_t number, MPI_Comm comm, std::uint64_t& most, std::uint64_t& least);
inline bool same_everywhere(std::uint64_t number, MPI_Comm comm) {
  std::uint64_t nothing = 0, neither = 0;
  return same_everywhere(number, comm, nothing, neither);
}

/// The largest `number` of all ranks. Collective.
std::int64_t most_of_any_rank(std::int64_t number, MPI_Comm comm);

/// The largest tag that the MPI allows.
int most_tag();

/// A communicator with the ranks of `user`, whose errors return. Collective. MPI_COMM_NULL if MPI has none left (MPICH
/// has 2048).
MPI_Comm same_ranks(MPI_Comm user);

}  // namespace swapmeet
