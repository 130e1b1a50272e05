#include "mpi/agreement.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "mpi/faults.hpp"
#include "mpi/native.hpp"
#include "mpi/outcome.hpp"

namespace swapmeet {

namespace {

/// Makes a collective call on `comm` that leaves something in `result`, of which nothing is there before.
template <class Call>
int attempt(char* result, std::size_t bytes, MPI_Comm comm, Call call) {
  constexpr char nothing = 0x5a;
  const ErrorsReturn quiet(comm);
  std::memset(result, nothing, bytes);
  int error = MPI_SUCCESS;
  for (int i = 0; i < most_attempts; ++i) {
    error = quiet.error_of(call());
    if (error == MPI_SUCCESS || is_fault(error)) return error;
    if (std::any_of(result, result + bytes, [](char byte) { return byte != nothing; })) return MPI_SUCCESS;
  }
  return error;
}

MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  return PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS ? handler : MPI_ERRHANDLER_NULL;
}

/// The last error that the quiet handler was called with on this thread.
thread_local int raised = MPI_SUCCESS;

void leave_error(MPI_Comm*, int* error, ...) { raised = *error; }

}  // namespace

MPI_Errhandler ErrorsReturn::quiet_handler() {
  static const MPI_Errhandler only = [] {
    MPI_Errhandler made = MPI_ERRORS_RETURN;
    PMPI_Comm_create_errhandler(leave_error, &made);
    return made;
  }();
  return only;
}

ErrorsReturn::ErrorsReturn(MPI_Comm comm, MPI_Errhandler quiet) : comm_(comm), quiet_(quiet) {
  if (Coroutine::here()) return;
  raised = MPI_SUCCESS;
  handler_ = handler_of(comm);
  if (handler_ != MPI_ERRHANDLER_NULL) PMPI_Comm_set_errhandler(comm, quiet);
}

int ErrorsReturn::error_of(int error) const {
  if (handler_ == MPI_ERRHANDLER_NULL) return error;
  const int before = std::exchange(raised, MPI_SUCCESS);
  return error ? error : before;
}

ErrorsReturn::~ErrorsReturn() {
  if (handler_ == MPI_ERRHANDLER_NULL) return;
  MPI_Errhandler present = handler_of(comm_);
  if (present == quiet_) PMPI_Comm_set_errhandler(comm_, handler_);
  if (present != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&present);
  PMPI_Errhandler_free(&handler_);
}

int gather_bytes(const void* mine, std::size_t bytes, void* all, int ranks, MPI_Comm comm) {
  const int count = static_cast<int>(bytes);
  return attempt(static_cast<char*>(all), bytes * static_cast<std::size_t>(ranks), comm, [&] {
    return together(PMPI_Allgather, PMPI_Iallgather, mine, count, MPI_BYTE, all, count, MPI_BYTE, comm);
  });
}

int exchange_bytes(const void* mine, std::size_t bytes, void* all, int ranks, MPI_Comm comm) {
  const int count = static_cast<int>(bytes);
  return attempt(static_cast<char*>(all), bytes * static_cast<std::size_t>(ranks), comm, [&] {
    return together(native().alltoall, native().ialltoall, mine, count, MPI_BYTE, all, count, MPI_BYTE, comm);
  });
}

int finish_suspended(MPI_Request& request) {
  int done = 0, error = MPI_SUCCESS;
  while (error = test_again(request, done), !error && !done)
    Coroutine::here() ? Coroutine::suspend() : void(sched_yield());
  return error;
}

int reduce_bytes(void* values, std::size_t bytes, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                 std::size_t most_gathered_bytes) {
  auto* const result = static_cast<char*>(values);
  const std::vector<char> mine(result, result + bytes);
  int ranks = 0, error = MPI_SUCCESS;
  PMPI_Comm_size(comm, &ranks);
  const auto number = static_cast<std::size_t>(ranks);
  if (number * bytes <= most_gathered_bytes) {
    std::vector<char> all(number * bytes);
    error = gather_bytes(mine.data(), bytes, all.data(), ranks, comm);
    // the upper half into the lower one, until one is left: few calls
    for (std::size_t left = number; left > 1 && !error;) {
      const std::size_t upper = left / 2;
      left -= upper;
      error =
          PMPI_Reduce_local(all.data() + left * bytes, all.data(), count * static_cast<int>(upper), type, operation);
    }
    if (!error) std::memcpy(result, all.data(), bytes);
  } else {
    error = attempt(result, bytes, comm, [&] {
      return together(PMPI_Allreduce, PMPI_Iallreduce, mine.data(), values, count, type, operation, comm);
    });
  }
  if (error) std::memcpy(result, mine.data(), bytes);
  return error;
}

bool no_rank_has(const std::string& problem, std::string& first, MPI_Comm comm) {
  constexpr std::size_t most_text = 256;
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  int with_problem = problem.empty() ? ranks : rank;
  reduce(std::span(&with_problem, 1), MPI_INT, MPI_MIN, comm);
  if (with_problem == ranks) return true;
  char text[most_text] = {};
  std::snprintf(text, sizeof text, "%s", problem.c_str());
  broadcast(text, sizeof text, with_problem, comm);
  first = text;
  return false;
}

int broadcast(void* data, int bytes, int root, MPI_Comm comm) {
  const ErrorsReturn quiet(comm);
  // Not by MPI_Bcast: the first one of a communicator can take many milliseconds (Open MPI 5.0.11).
  return again([&] {
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = quiet.error_of(PMPI_Ibcast(data, bytes, MPI_BYTE, root, comm, &request));
    if (error) return error;
    return Coroutine::here() ? finish_suspended(request) : quiet.error_of(PMPI_Wait(&request, MPI_STATUS_IGNORE));
  });
}

bool same_everywhere(std::uint64_t number, MPI_Comm comm, std::uint64_t& most, std::span<std::uint64_t> least) {
  std::vector<std::uint64_t> all{number, ~number, ~most};
  all.insert(all.end(), least.begin(), least.end());
  if (reduce_once(all, MPI_UINT64_T, MPI_MIN, comm) != MPI_SUCCESS) return false;
  most = ~all[2];
  std::copy(all.begin() + 3, all.end(), least.begin());
  return all[0] == ~all[1];
}

bool same_everywhere(std::uint64_t number, MPI_Comm comm, std::uint64_t& flags) {
  std::array all{number, ~number, flags};
  if (reduce_once(all, MPI_UINT64_T, MPI_BAND, comm) != MPI_SUCCESS) return false;
  flags = all[2];
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
  const ErrorsReturn quiet(user);
  if (PMPI_Comm_group(user, &group) != MPI_SUCCESS) return MPI_COMM_NULL;
  int ranks = 0, in_group = 0, rank = 0;
  PMPI_Comm_size(user, &ranks);
  PMPI_Comm_rank(user, &rank);
  PMPI_Group_size(group, &in_group);
  // MPICH 5.0.2 gives a grid of some ranks the group of all that made it; and where threads are ranks (MPIX_Threadcomm),
  // that of their processes: of such, none can be made
  const auto make = [&] {
    return in_group == ranks ? PMPI_Comm_create(user, group, &comm) : PMPI_Comm_split(user, 0, rank, &comm);
  };
  const int attempts = in_group < ranks ? 0 : 2;  // once more: the other ranks wait in it
  for (int attempt = 0; attempt < attempts && comm == MPI_COMM_NULL; ++attempt)
    if (is_fault(quiet.error_of(make()))) comm = MPI_COMM_NULL;  // what is there is half made
  PMPI_Group_free(&group);
  if (comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

// MPI_COMM_SELF's error handler is not touched, not even to be set to what it was: MPICH raises the errors of MPI_Waitall
// there, unless nobody has set one.
MPI_Comm this_rank_alone() {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_group(MPI_COMM_SELF, &group);
  PMPI_Comm_create(MPI_COMM_SELF, group, &comm);
  PMPI_Group_free(&group);
  if (comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

}  // namespace swapmeet
