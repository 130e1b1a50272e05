/// Agreement of the ranks of a communicator: reductions, gathers and broadcasts of a few bytes. Several ranks agree on
/// something only by these functions. In blocking calls they use collective calls of the host MPI on the application's
/// communicator, where calls come in the same order on all ranks. Work that is executed in steps (steps.hpp) must not
/// wait and has no such order: for it they use messages of the team.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "mpi/errors_return.hpp"
#include "mpi/mpi.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// Allreduce of `values` in place: `count` elements of `type`, `bytes` bytes in all. Collective. Returns an MPI error
/// code; after an error `values` are unchanged.
///
/// A failed call is repeated unless its results have arrived nonetheless. The cause of a failure is often transient,
/// and the other ranks wait in the call.
///
/// If the values of all ranks together have at most `most_gathered_bytes`, each rank gathers and reduces them itself,
/// because the first MPI_Allreduce of a process can take milliseconds (MPICH). allreduce_once() has a higher limit. It is
/// for agreements that programs with few calls need.
int allreduce_bytes(void* values, std::size_t bytes, int count, MPI_Datatype type, MPI_Op operation, Team& team,
                    std::size_t most_gathered_bytes);
template <class Values>
int allreduce(Values&& values, MPI_Datatype type, MPI_Op operation, Team& team,
              std::size_t most_gathered_bytes = 1024) {
  return allreduce_bytes(std::data(values), std::size(values) * sizeof *std::data(values),
                         static_cast<int>(std::size(values)), type, operation, team, most_gathered_bytes);
}
template <class Values>
int allreduce_once(Values&& values, MPI_Datatype type, MPI_Op operation, Team& team) {
  return allreduce(values, type, operation, team, 32 << 10);
}

/// Allgather: `all` gets `bytes` bytes of `mine` from each rank, in the order of ranks. Collective. A failed call is
/// repeated unless its results have arrived nonetheless. Returns an MPI error code.
int allgather_bytes(const void* mine, std::size_t bytes, void* all, Team& team);
template <class Item>
int allgather(const Item& mine, std::vector<Item>& all, Team& team) {
  all.resize(static_cast<std::size_t>(team.size()));
  return allgather_bytes(&mine, sizeof mine, all.data(), team);
}

/// All-to-all by the host MPI: each rank gets its `bytes` bytes of `mine`, and `all` gets the bytes that the ranks have
/// for this one, both in the order of ranks. Collective; for blocking calls only. A failed call is repeated unless its
/// results have arrived nonetheless. Returns an MPI error code.
int exchange_bytes(const void* mine, std::size_t bytes, void* all, const Team& team);

/// Broadcast of `bytes` bytes of `root`. Collective. A failed call is repeated. Returns an MPI error code.
int broadcast(void* data, int bytes, int root, Team& team);

/// Whether no rank has a `problem`, which is a text or "". If some rank has one, `first` becomes the problem of the
/// first such rank, cut to 255 characters. Collective.
bool no_rank_has(const std::string& problem, std::string& first, Team& team);

/// Determines whether all ranks pass the same `number`: `same`. In the same exchange, `most` becomes the largest value
/// of any rank, and each element of `least` the smallest. Collective. Returns an MPI error code; after an error nothing
/// is changed.
int compare_everywhere(std::uint64_t number, Team& team, bool& same, std::uint64_t& most,
                       std::span<std::uint64_t> least);
/// Whether all ranks pass the same `number`. Collective. Also false after an MPI error.
inline bool same_everywhere(std::uint64_t number, Team& team) {
  bool same = false;
  std::uint64_t nothing = 0;
  compare_everywhere(number, team, same, nothing, {});
  return same;
}

/// The largest `number` of all ranks. Collective.
std::int64_t most_of_any_rank(std::int64_t number, Team& team);

}  // namespace swapmeet
