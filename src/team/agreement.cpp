#include "team/agreement.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "mpi/errors_return.hpp"
#include "mpi/faults.hpp"
#include "mpi/mpi.hpp"
#include "mpi/outcome.hpp"
#include "team/messages.hpp"

namespace swapmeet {

namespace {

/// Makes a collective call on `comm` that writes `result`, and repeats it if it fails, unless its results have arrived:
/// then the call counts as successful. `result` is filled with a pattern first, which results change.
template <class Call>
int attempt(char* result, std::size_t bytes, MPI_Comm comm, Call call) {
  constexpr char nothing = 0x5a;
  const ErrorsReturn quiet(comm);
  std::memset(result, nothing, bytes);
  const auto arrived = [&](int) {
    return std::any_of(result, result + bytes, [](char byte) { return byte != nothing; });
  };
  const int error = again_unless(arrived, [&] { return quiet.error_of(call()); });
  return error == MPI_SUCCESS || is_fault(error) || !arrived(error) ? error : MPI_SUCCESS;
}

}  // namespace

int allgather_bytes(const void* mine, std::size_t bytes, void* all, Team& team) {
  if (team.in_steps()) return gather_by_messages(team, mine, bytes, static_cast<char*>(all));
  const int count = static_cast<int>(bytes);
  return attempt(static_cast<char*>(all), bytes * static_cast<std::size_t>(team.size()), team.user_comm(),
                 [&] { return PMPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, team.user_comm()); });
}

int exchange_bytes(const void* mine, std::size_t bytes, void* all, const Team& team) {
  const int count = static_cast<int>(bytes);
  return attempt(static_cast<char*>(all), bytes * static_cast<std::size_t>(team.size()), team.user_comm(),
                 [&] { return PMPI_Alltoall(mine, count, MPI_BYTE, all, count, MPI_BYTE, team.user_comm()); });
}

int allreduce_bytes(void* values, std::size_t bytes, int count, MPI_Datatype type, MPI_Op operation, Team& team,
                    std::size_t most_gathered_bytes) {
  auto* const result = static_cast<char*>(values);
  const std::vector<char> mine(result, result + bytes);
  int error = MPI_SUCCESS;
  const auto number = static_cast<std::size_t>(team.size());
  if (team.in_steps() || number * bytes <= most_gathered_bytes) {
    std::vector<char> all(number * bytes);
    error = allgather_bytes(mine.data(), bytes, all.data(), team);
    // Reduces the upper half of the values into the lower half until one is left, which takes few calls.
    for (std::size_t left = number; left > 1 && !error;) {
      const std::size_t upper = left / 2;
      left -= upper;
      error =
          PMPI_Reduce_local(all.data() + left * bytes, all.data(), count * static_cast<int>(upper), type, operation);
    }
    if (!error) std::memcpy(result, all.data(), bytes);
  } else {
    error = attempt(result, bytes, team.user_comm(),
                    [&] { return PMPI_Allreduce(mine.data(), values, count, type, operation, team.user_comm()); });
  }
  if (error) std::memcpy(result, mine.data(), bytes);
  return error;
}

bool no_rank_has(const std::string& problem, std::string& first, Team& team) {
  constexpr std::size_t most_text = 256;
  int with_problem = problem.empty() ? team.size() : team.rank();
  allreduce(std::span(&with_problem, 1), MPI_INT, MPI_MIN, team);
  if (with_problem == team.size()) return true;
  char text[most_text] = {};
  std::snprintf(text, sizeof text, "%s", problem.c_str());
  broadcast(text, sizeof text, with_problem, team);
  first = text;
  return false;
}

int broadcast(void* data, int bytes, int root, Team& team) {
  if (team.in_steps()) return broadcast_by_messages(team, data, static_cast<std::size_t>(bytes), root);
  const ErrorsReturn quiet(team.user_comm());
  // MPI_Bcast is not used: its first call on a communicator can take many milliseconds (Open MPI 5.0.11).
  return again([&] {
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = quiet.error_of(PMPI_Ibcast(data, bytes, MPI_BYTE, root, team.user_comm(), &request));
    return error ? error : quiet.error_of(PMPI_Wait(&request, MPI_STATUS_IGNORE));
  });
}

int compare_everywhere(std::uint64_t number, Team& team, bool& same, std::uint64_t& most,
                       std::span<std::uint64_t> least) {
  std::vector<std::uint64_t> all{number, ~number, ~most};
  all.insert(all.end(), least.begin(), least.end());
  if (const int error = allreduce_once(all, MPI_UINT64_T, MPI_MIN, team)) return error;
  most = ~all[2];
  std::copy(all.begin() + 3, all.end(), least.begin());
  same = all[0] == ~all[1];
  return MPI_SUCCESS;
}

std::int64_t most_of_any_rank(std::int64_t number, Team& team) {
  allreduce(std::span(&number, 1), MPI_INT64_T, MPI_MAX, team);
  return number;
}

}  // namespace swapmeet
