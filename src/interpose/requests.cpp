#include "interpose/requests.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <span>
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

/// Finishes exchanges of ours before the host MPI waits for them. Only where it would wait for nothing else: what moves only in
/// its waits, as collective input and output of MPICH, must not stand still meanwhile.
[[gnu::noinline, gnu::cold]] void finish_ours(int count, const MPI_Request* requests) {
  if (count <= 0 || !requests) return;
  const std::span all(requests, static_cast<std::size_t>(count));
  if (!std::ranges::all_of(all, [](MPI_Request one) { return one == MPI_REQUEST_NULL || find(one); })) return;
  for (const MPI_Request one : all)
    if (Persistent* const persistent = find(one)) persistent->finish();
}

// These go on by their own names, so that a tool behind us sees them.

template <bool profiling>
Wait next_wait() {
  static const auto found = reinterpret_cast<Wait>(needed_mpi_symbol(profiling ? "PMPI_Wait" : "MPI_Wait"));
  return found;
}
template <bool profiling>
WaitForAll next_wait_for_all() {
  static const auto found = reinterpret_cast<WaitForAll>(needed_mpi_symbol(profiling ? "PMPI_Waitall" : "MPI_Waitall"));
  return found;
}

template <bool profiling>
int find_wait(MPI_Request*, MPI_Status*);
template <bool profiling>
int find_wait_for_all(int, MPI_Request*, MPI_Status*);

template <bool profiling>
std::atomic<Wait> wait_for{find_wait<profiling>};
template <bool profiling>
std::atomic<WaitForAll> wait_for_all{find_wait_for_all<profiling>};

template <bool profiling>
int find_wait(MPI_Request* request, MPI_Status* status) {
  return settled(wait_for<profiling>, find_wait<profiling>, next_wait<profiling>())(request, status);
}
template <bool profiling>
int find_wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  return settled(wait_for_all<profiling>, find_wait_for_all<profiling>, next_wait_for_all<profiling>())(count, requests,
                                                                                                        statuses);
}

template <bool profiling>
int watched_wait(MPI_Request* request, MPI_Status* status) {
  if (Persistent* const persistent = UnderWay::any() && request ? find(*request) : nullptr) persistent->finish();
  return next_wait<profiling>()(request, status);
}
template <bool profiling>
int watched_wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (UnderWay::any()) finish_ours(count, requests);
  return next_wait_for_all<profiling>()(count, requests, statuses);
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
  wait_for<false> = watched_wait<false>, wait_for<true> = watched_wait<true>;
  wait_for_all<false> = watched_wait_for_all<false>, wait_for_all<true> = watched_wait_for_all<true>;
}

void unwatch_all() {
  const std::lock_guard lock(watched().mutex);
  watched().all.clear();
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

#define SWAPMEET_WAIT(name, profiling)                                                     \
  SWAPMEET_EXPORT int name(MPI_Request* request, MPI_Status* status) {                     \
    return swapmeet::wait_for<profiling>.load(std::memory_order_relaxed)(request, status); \
  }

#define SWAPMEET_WAIT_FOR_ALL(name, profiling)                                                           \
  SWAPMEET_EXPORT int name(int count, MPI_Request requests[], MPI_Status statuses[]) {                   \
    return swapmeet::wait_for_all<profiling>.load(std::memory_order_relaxed)(count, requests, statuses); \
  }

SWAPMEET_WAIT(MPI_Wait, false)
SWAPMEET_WAIT(PMPI_Wait, true)
SWAPMEET_WAIT_FOR_ALL(MPI_Waitall, false)
SWAPMEET_WAIT_FOR_ALL(PMPI_Waitall, true)
