#include "interpose/requests.hpp"

#include <atomic>
#include <vector>

#include "api/export.hpp"
#include "interpose/workers.hpp"
#include "mpi/guard.hpp"

namespace swapmeet {

namespace {

using OfOne = int (*)(MPI_Request*);
using OfSeveral = int (*)(int, MPI_Request*);

OfOne native_start() {
  static const auto found = reinterpret_cast<OfOne>(needed_mpi_symbol("PMPI_Start"));
  return found;
}
OfSeveral native_startall() {
  static const auto found = reinterpret_cast<OfSeveral>(needed_mpi_symbol("PMPI_Startall"));
  return found;
}
OfOne native_free() {
  static const auto found = reinterpret_cast<OfOne>(needed_mpi_symbol("PMPI_Request_free"));
  return found;
}

int find_start(MPI_Request*);
int find_startall(int, MPI_Request*);
int find_free(MPI_Request*);

// What the entry points do: find the host MPI at first, then call it, and look for our requests if there are any.
std::atomic<OfOne> start{find_start};
std::atomic<OfSeveral> startall{find_startall};
std::atomic<OfOne> free_request{find_free};

template <class Function>
Function settled(std::atomic<Function>& step, Function first, Function native) {
  step.compare_exchange_strong(first, native);  // unless they are watched meanwhile
  return native;
}

int find_start(MPI_Request* request) { return settled(start, find_start, native_start())(request); }
int find_startall(int count, MPI_Request* requests) {
  return settled(startall, find_startall, native_startall())(count, requests);
}
int find_free(MPI_Request* request) { return settled(free_request, find_free, native_free())(request); }

int watched_start(MPI_Request* request) {
  Worker* const worker = request ? worker_of_planned(*request) : nullptr;
  const int error = native_start()(request);
  return worker && !error ? guarded([&] { return worker->start_planned(), MPI_SUCCESS; }) : error;
}

int watched_startall(int count, MPI_Request* requests) {
  const int error = native_startall()(count, requests);
  if (error) return error;
  return guarded([&]() -> int {
    for (int i = 0; i < count; ++i)
      if (Worker* const worker = worker_of_planned(requests[i])) worker->start_planned();
    return MPI_SUCCESS;
  });
}

int watched_free(MPI_Request* request) {
  Worker* const worker = request ? take_planned(*request) : nullptr;  // before: MPI may give its handle to the next
  const int error = native_free()(request);
  if (worker) worker->close();
  return error;
}

}  // namespace

void watch_requests() {
  start = watched_start;
  startall = watched_startall;
  free_request = watched_free;
}

}  // namespace swapmeet

#define SWAPMEET_PASS(name, step) \
  SWAPMEET_EXPORT int name(MPI_Request* request) { return swapmeet::step.load(std::memory_order_relaxed)(request); }

#define SWAPMEET_PASS_ALL(name, step)                                       \
  SWAPMEET_EXPORT int name(int count, MPI_Request requests[]) {             \
    return swapmeet::step.load(std::memory_order_relaxed)(count, requests); \
  }

SWAPMEET_PASS(MPI_Start, start)
SWAPMEET_PASS(PMPI_Start, start)
SWAPMEET_PASS_ALL(MPI_Startall, startall)
SWAPMEET_PASS_ALL(PMPI_Startall, startall)
SWAPMEET_PASS(MPI_Request_free, free_request)
SWAPMEET_PASS(PMPI_Request_free, free_request)
