#include "exchange/largest_of_all.hpp"

#include <algorithm>

#include "exchange/failure.hpp"
#include "mpi/coroutine.hpp"
#include "mpi/outcome.hpp"

namespace swapmeet {

int LargestOfAll::settle(std::span<std::int64_t> values, const Tags& tags, const Invocation& call) {
  Rank ranks = 0, rank = 0;
  PMPI_Comm_size(call.comm, &ranks);
  PMPI_Comm_rank(call.comm, &rank);
  ours_[0] = call.number, ours_[1] = -std::int64_t{call.number};
  std::ranges::copy(values, ours_.begin() + 2);
  const std::size_t count = values.size() + 2;
  std::uint32_t round = 0;
  for (Rank distance = 1; distance < ranks; distance *= 2) {
    const int tag = tags.of(Kind::agreement, 0, round++);  // of any call: ranks in different calls are to learn of it
    if (const int error = swap(count, (rank + distance) % ranks, (rank - distance + ranks) % ranks, tag, call))
      return error;
    for (std::size_t i = 0; i < count; ++i) ours_[i] = std::max(ours_[i], theirs_[i]);
  }
  std::copy_n(ours_.begin() + 2, values.size(), values.begin());
  return ours_[0] == -ours_[1] ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int LargestOfAll::swap(std::size_t count, Rank to, Rank from, int tag, const Invocation& call) {
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Status, 2> statuses;
  auto& [receive, send] = requests;
  const int number = static_cast<int>(count);
  Failure failure;
  int error = again(PMPI_Irecv, theirs_.data(), number, MPI_INT64_T, from, tag, call.comm, &receive);
  if (!error) error = again(PMPI_Isend, ours_.data(), number, MPI_INT64_T, to, tag, call.comm, &send);
  while (!error) {
    error = finish(requests, 0, statuses.data(), failure, false, !Coroutine::here(), call.comm);
    if (error != unfinished) break;
    Coroutine::suspend();
    error = MPI_SUCCESS;
  }
  if (error) abandon({&receive, 1}, {&send, 1});
  return error ? error : failure.error;
}

}  // namespace swapmeet
