/// What the ranks of a communicator settle together.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "mpi/coroutine.hpp"
#include "mpi/errors_return.hpp"
#include "mpi/mpi.hpp"
#include "team/peers.hpp"

namespace swapmeet {

/// Waits for `request`; in a coroutine, which is left meanwhile.
int finish_suspended(MPI_Request& request);

/// How many they are, and which of them this rank is. Local.
int ranks_of(const Peers& peers);
int rank_in(const Peers& peers);

/// Everything that several ranks settle is settled by these: in calls that wait by collective calls of the host MPI on the
/// application's communicator, where they come in order, and in a coroutine, which must not wait and has no such order, by
/// messages of the team. Collective.
///
/// An allreduce of `values` in place. A call that fails is made again, unless its results are there nonetheless: what
/// failed is often over then, and the other ranks wait in it. After an error they are what they were. A few values of a
/// few ranks are gathered and reduced by each, for the first MPI_Allreduce of a process can take milliseconds (MPICH):
/// up to `most_gathered_bytes` of all ranks, more of them by reduce_once(), which is for what programs of few calls need.
int reduce_bytes(void* values, std::size_t bytes, int count, MPI_Datatype type, MPI_Op operation, const Peers& peers,
                 std::size_t most_gathered_bytes);
template <class Values>
int reduce(Values&& values, MPI_Datatype type, MPI_Op operation, const Peers& peers,
           std::size_t most_gathered_bytes = 1024) {
  return reduce_bytes(std::data(values), std::size(values) * sizeof *std::data(values),
                      static_cast<int>(std::size(values)), type, operation, peers, most_gathered_bytes);
}
template <class Values>
int reduce_once(Values&& values, MPI_Datatype type, MPI_Op operation, const Peers& peers) {
  return reduce(values, type, operation, peers, 32 << 10);
}

/// What each rank says, `bytes` bytes, in the order of ranks in `all`. Collective. A call that fails is made
/// again, unless its results are there nonetheless.
int gather_bytes(const void* mine, std::size_t bytes, void* all, int ranks, const Peers& peers);
template <class Item>
int gather(const Item& mine, std::vector<Item>& all, const Peers& peers) {
  const int ranks = ranks_of(peers);
  all.resize(static_cast<std::size_t>(ranks));
  return gather_bytes(&mine, sizeof mine, all.data(), ranks, peers);
}

/// Gives each rank of `comm` its own `bytes` bytes of `mine`, in the order of ranks, and leaves in `all` what they have for this
/// one. Collective; not in a coroutine. A call that fails is made again, unless its results are there nonetheless.
int exchange_bytes(const void* mine, std::size_t bytes, void* all, int ranks, MPI_Comm comm);

/// Gives every rank what `root` has. Collective. A call that fails is made again.
int broadcast(void* data, int bytes, int root, const Peers& peers);

/// Whether no rank has a `problem`; if one has, the first one's is told in `first`. Collective.
bool no_rank_has(const std::string& problem, std::string& first, const Peers& peers);

/// Whether all ranks have this number. `most` becomes the largest of any rank, each of `least` the smallest.
/// Collective.
bool same_everywhere(std::uint64_t number, const Peers& peers, std::uint64_t& most, std::span<std::uint64_t> least);
inline bool same_everywhere(std::uint64_t number, const Peers& peers) {
  std::uint64_t nothing = 0;
  return same_everywhere(number, peers, nothing, {});
}

/// The largest `number` of all ranks. Collective.
std::int64_t most_of_any_rank(std::int64_t number, const Peers& peers);

/// A communicator of this rank alone, whose errors return. Local. MPI_COMM_NULL if MPI has none left.
MPI_Comm this_rank_alone();

}  // namespace swapmeet
