#include "interpose/requests.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "api/export.hpp"
#include "mpi/guard.hpp"
#include "session/under_way.hpp"

namespace swapmeet {

namespace {

using OfOne = int (*)(MPI_Request*);
using OfSeveral = int (*)(int, MPI_Request*);
using Wait = int (*)(MPI_Request*, MPI_Status*);
using WaitForAll = int (*)(int, MPI_Request*, MPI_Status*);

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

Wait native_wait() {
  static const auto found = reinterpret_cast<Wait>(needed_mpi_symbol("PMPI_Wait"));
  return found;
}
WaitForAll native_waitall() {
  static const auto found = reinterpret_cast<WaitForAll>(needed_mpi_symbol("PMPI_Waitall"));
  return found;
}

int find_start(MPI_Request*);
int find_startall(int, MPI_Request*);
int find_free(MPI_Request*);
int find_wait(MPI_Request*, MPI_Status*);
int find_waitall(int, MPI_Request*, MPI_Status*);

// What the entry points do: find the host MPI at first, then call it, and look for our requests if there are any.
std::atomic<OfOne> start{find_start};
std::atomic<OfSeveral> startall{find_startall};
std::atomic<OfOne> free_request{find_free};
std::atomic<Wait> wait_for{find_wait};
std::atomic<WaitForAll> waitall{find_waitall};

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
int find_wait(MPI_Request* request, MPI_Status* status) {
  return settled(wait_for, find_wait, native_wait())(request, status);
}
int find_waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return settled(waitall, find_waitall, native_waitall())(count, requests, statuses);
}

struct Hash {
  std::size_t operator()(MPI_Request request) const {
    std::size_t number = 0;
    std::memcpy(&number, &request, sizeof request);
    return number;
  }
};

struct Watched {
  std::mutex mutex;
  std::unordered_map<MPI_Request, Persistent*, Hash> all;
};

/// Never destroyed: a process may exit while threads run.
Watched& watched() {
  static Watched* const all = new Watched;
  return *all;
}

/// nullptr: it is not ours.
Persistent* find(MPI_Request request) {
  const std::lock_guard lock(watched().mutex);
  const auto found = watched().all.find(request);
  return found == watched().all.end() ? nullptr : found->second;
}

int watched_start(MPI_Request* request) {
  Persistent* const persistent = request ? find(*request) : nullptr;
  const int error = native_start()(request);
  return persistent && !error ? guarded([&] { return persistent->start(); }) : error;
}

int watched_startall(int count, MPI_Request* requests) {
  const int error = native_startall()(count, requests);
  if (error) return error;
  return guarded([&]() -> int {
    int first = MPI_SUCCESS;
    for (int i = 0; i < count; ++i)
      if (Persistent* const persistent = find(requests[i]))
        if (const int failed = persistent->start(); failed && !first) first = failed;
    return first;
  });
}

int watched_free(MPI_Request* request) {
  if (!request) return native_free()(request);
  std::unique_lock lock(watched().mutex);
  auto taken = watched().all.extract(*request);  // before the host MPI may give its handle to the next
  lock.unlock();
  const int error = native_free()(request);
  if (!taken) return error;
  if (!error) return taken.mapped()->close(), MPI_SUCCESS;
  lock.lock();
  watched().all.insert(std::move(taken));
  return error;
}

int watched_wait(MPI_Request* request, MPI_Status* status) {
  if (Persistent* const persistent = UnderWay::any() && request ? find(*request) : nullptr) persistent->finish();
  return native_wait()(request, status);
}

int watched_waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  for (int i = 0; i < count && requests && UnderWay::any(); ++i)
    if (Persistent* const persistent = find(requests[i])) persistent->finish();
  return native_waitall()(count, requests, statuses);
}

}  // namespace

void watch(MPI_Request request, Persistent& persistent) {
  {
    const std::lock_guard lock(watched().mutex);
    watched().all[request] = &persistent;
  }
  start = watched_start;
  startall = watched_startall;
  free_request = watched_free;
  wait_for = watched_wait;
  waitall = watched_waitall;
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

#define SWAPMEET_PASS_WAIT(prefix)                                                                 \
  SWAPMEET_EXPORT int prefix##_Wait(MPI_Request* request, MPI_Status* status) {                    \
    return swapmeet::wait_for.load(std::memory_order_relaxed)(request, status);                    \
  }                                                                                                \
  SWAPMEET_EXPORT int prefix##_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) { \
    return swapmeet::waitall.load(std::memory_order_relaxed)(count, requests, statuses);           \
  }

SWAPMEET_PASS_WAIT(MPI)
SWAPMEET_PASS_WAIT(PMPI)
