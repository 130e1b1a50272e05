/// What the ranks of a communicator settle together.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "mpi/coroutine.hpp"
#include "mpi/mpi.hpp"

namespace swapmeet {

/// Waits for `request`; in a coroutine, which is left meanwhile.
int finish_suspended(MPI_Request& request);

/// A collective call that waits; in a coroutine it is started, and the coroutine is left until it is over. Returns as
/// MPI does.
template <class Waiting, class Starting, class... Arguments>
int together(Waiting waiting, Starting starting, Arguments... arguments) {
  if (!Coroutine::here()) return waiting(arguments...);
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = starting(arguments..., &request);
  return error ? error : finish_suspended(request);
}

/// As long as it lives, errors of `comm` return: what fails is ours, and the application's error handler is called once, with
/// the call's error. Not in a coroutine, which agrees on a communicator of ours. Local.
class ErrorsReturn {
 public:
  explicit ErrorsReturn(MPI_Comm comm) : ErrorsReturn(comm, quiet_handler()) {}
  /// `quiet`: the error handler that `comm` has meanwhile. If the program sets another one, that stays.
  ErrorsReturn(MPI_Comm comm, MPI_Errhandler quiet);
  ~ErrorsReturn();
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

  /// Leaves errors to what the call returns. Not MPI_ERRORS_RETURN, which another thread of the program may set meanwhile.
  static MPI_Errhandler quiet_handler();

  /// The error of a call on `comm` by this thread that returned `error`. MPICH 5.0.2 returns MPI_SUCCESS from each call that
  /// has called an error handler.
  int error_of(int error) const;

 private:
  MPI_Comm comm_;
  MPI_Errhandler quiet_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// Everything that several ranks settle is settled by these, so that a coroutine never waits. Collective.
///
/// An allreduce of `values` in place. A call that fails is made again, unless its results are there nonetheless: what
/// failed is often over then, and the other ranks wait in it. After an error they are what they were. A few values of a
/// few ranks are gathered and reduced by each, for the first MPI_Allreduce of a process can take milliseconds (MPICH):
/// up to `most_gathered_bytes` of all ranks, more of them by reduce_once(), which is for what programs of few calls need.
int reduce_bytes(void* values, std::size_t bytes, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                 std::size_t most_gathered_bytes);
template <class Values>
int reduce(Values&& values, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
           std::size_t most_gathered_bytes = 1024) {
  return reduce_bytes(std::data(values), std::size(values) * sizeof *std::data(values),
                      static_cast<int>(std::size(values)), type, operation, comm, most_gathered_bytes);
}
template <class Values>
int reduce_once(Values&& values, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  return reduce(values, type, operation, comm, 32 << 10);
}

/// What each rank of `comm` says, `bytes` bytes, in the order of ranks in `all`. Collective. A call that fails is made
/// again, unless its results are there nonetheless.
int gather_bytes(const void* mine, std::size_t bytes, void* all, int ranks, MPI_Comm comm);
template <class Item>
int gather(const Item& mine, std::vector<Item>& all, MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  all.resize(static_cast<std::size_t>(ranks));
  return gather_bytes(&mine, sizeof mine, all.data(), ranks, comm);
}

/// Gives each rank of `comm` its own `bytes` bytes of `mine`, in the order of ranks, and leaves in `all` what they have for this
/// one. Collective. A call that fails is made again, unless its results are there nonetheless.
int exchange_bytes(const void* mine, std::size_t bytes, void* all, int ranks, MPI_Comm comm);

/// Gives every rank what `root` has. Collective. A call that fails is made again.
int broadcast(void* data, int bytes, int root, MPI_Comm comm);

/// Whether no rank of `comm` has a `problem`; if one has, the first one's is told in `first`. Collective.
bool no_rank_has(const std::string& problem, std::string& first, MPI_Comm comm);

/// Whether all ranks of `comm` have this number. `most` becomes the largest of any rank, each of `least` the smallest.
/// Collective.
bool same_everywhere(std::uint64_t number, MPI_Comm comm, std::uint64_t& most, std::span<std::uint64_t> least);
inline bool same_everywhere(std::uint64_t number, MPI_Comm comm) {
  std::uint64_t nothing = 0;
  return same_everywhere(number, comm, nothing, {});
}

/// Whether all ranks of `comm` have this number. `flags` becomes what all of them have. Collective.
bool same_everywhere(std::uint64_t number, MPI_Comm comm, std::uint64_t& flags);

/// The largest `number` of all ranks. Collective.
std::int64_t most_of_any_rank(std::int64_t number, MPI_Comm comm);

/// The largest tag that the MPI allows.
int most_tag();

/// A communicator with the ranks of `user`, whose errors return. Collective. MPI_COMM_NULL if MPI has none left (MPICH
/// has 2048).
MPI_Comm same_ranks(MPI_Comm user);

/// A communicator of this rank alone, whose errors return. Local. MPI_COMM_NULL if MPI has none left.
MPI_Comm this_rank_alone();

}  // namespace swapmeet
