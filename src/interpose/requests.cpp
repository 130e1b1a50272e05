#include "interpose/requests.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

#include "api/export.hpp"
#include "mpi/guard.hpp"
#include "session/under_way.hpp"

namespace swapmeet {

namespace {

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

/// The table of watched requests. It is never destroyed, because a process may exit while threads run.
Watched& watched_requests() {
  static Watched* const all = new Watched;
  return *all;
}

/// The object for which `request` stands, or nullptr.
Persistent* find(MPI_Request request) {
  const std::lock_guard lock(watched_requests().mutex);
  const auto found = watched_requests().all.find(request);
  return found == watched_requests().all.end() ? nullptr : found->second;
}

/// A scope in which the next definition of an MPI function does its part of a call. If that definition is a tool's, it
/// calls the PMPI_ name, which is this library's again. `here` is then true, so that the inner call does not look up
/// the request a second time.
class WithinCall {
 public:
  WithinCall() : before_(std::exchange(here, true)) {}
  ~WithinCall() { here = before_; }
  WithinCall(const WithinCall&) = delete;
  WithinCall& operator=(const WithinCall&) = delete;

  static inline thread_local bool here = false;

 private:
  bool before_;
};

template <class Next, class... Arguments>
int within_call(Next next, Arguments... arguments) {
  const WithinCall here;
  return next(arguments...);
}

// The actions of the entry points, once there are watched requests. `next` is the function of the host MPI, or of a
// tool that is loaded after this library.

struct Start {
  static constexpr const char* name = "PMPI_Start";
  using Function = int (*)(MPI_Request*);

  template <class Next>
  static int watched(Next next, MPI_Request* request) {
    if (WithinCall::here) return next(request);
    Persistent* const persistent = request ? find(*request) : nullptr;
    const int error = within_call(next, request);
    return persistent && !error ? guarded([&] { return persistent->start(); }) : error;
  }
};

struct Startall {
  static constexpr const char* name = "PMPI_Startall";
  using Function = int (*)(int, MPI_Request*);

  template <class Next>
  static int watched(Next next, int count, MPI_Request* requests) {
    if (WithinCall::here) return next(count, requests);
    if (const int error = within_call(next, count, requests)) return error;
    return guarded([&]() -> int {
      int first = MPI_SUCCESS;
      for (int i = 0; i < count; ++i)
        if (Persistent* const persistent = find(requests[i]))
          if (const int failed = persistent->start(); failed && !first) first = failed;
      return first;
    });
  }
};

struct Free {
  static constexpr const char* name = "PMPI_Request_free";
  using Function = int (*)(MPI_Request*);

  template <class Next>
  static int watched(Next next, MPI_Request* request) {
    if (!request) return next(request);
    std::unique_lock lock(watched_requests().mutex);
    auto taken = watched_requests().all.extract(*request);  // first, since the host MPI may reuse the handle at once
    lock.unlock();
    const int error = next(request);
    if (!taken) return error;
    if (!error) return taken.mapped()->close(), MPI_SUCCESS;
    lock.lock();
    watched_requests().all.insert(std::move(taken));
    return error;
  }
};

/// Finishes exchanges of this library before the host MPI waits for their requests. It does so only if all requests are
/// such ones. Otherwise operations that advance only in the host MPI's waits, such as MPICH's collective input and
/// output, would stand still meanwhile.
[[gnu::noinline, gnu::cold]] void finish_ours(int count, const MPI_Request* requests) {
  if (count <= 0 || !requests) return;
  const std::span all(requests, static_cast<std::size_t>(count));
  if (!std::ranges::all_of(all, [](MPI_Request one) { return one == MPI_REQUEST_NULL || find(one); })) return;
  for (const MPI_Request one : all)
    if (Persistent* const persistent = find(one)) persistent->finish();
}

struct Wait {
  static constexpr const char* name = "PMPI_Wait";
  using Function = int (*)(MPI_Request*, MPI_Status*);

  template <class Next>
  static int watched(Next next, MPI_Request* request, MPI_Status* status) {
    if (Persistent* const persistent = OngoingExchanges::any() && request ? find(*request) : nullptr)
      persistent->finish();
    return next(request, status);
  }
};

struct Waitall {
  static constexpr const char* name = "PMPI_Waitall";
  using Function = int (*)(int, MPI_Request*, MPI_Status*);

  template <class Next>
  static int watched(Next next, int count, MPI_Request* requests, MPI_Status* statuses) {
    if (OngoingExchanges::any()) finish_ours(count, requests);
    return next(count, requests, statuses);
  }
};

/// An entry point under one of its names, PMPI_ if `profiling` is true. It calls the next definition of the same name,
/// so that a tool that is loaded after this library sees the call. The first call finds that definition. Later calls go
/// directly to it, or to `watched` if there have been watched requests.
template <class Call, bool profiling, class Function = typename Call::Function>
class Entry;

template <class Call, bool profiling, class... Arguments>
class Entry<Call, profiling, int (*)(Arguments...)> {
 public:
  static int call(Arguments... arguments) { return step.load(std::memory_order_relaxed)(arguments...); }
  static void watch() { step = watched; }

 private:
  using Function = int (*)(Arguments...);

  static Function next() {
    static const auto found = reinterpret_cast<Function>(needed_mpi_symbol(Call::name + (profiling ? 0 : 1)));
    return found;
  }
  static int find_next(Arguments... arguments) {
    Function first = find_next;
    step.compare_exchange_strong(first, next());  // unless watch() has set it meanwhile
    return next()(arguments...);
  }
  static int watched(Arguments... arguments) { return Call::watched(next(), arguments...); }

  static inline std::atomic<Function> step{find_next};
};

template <class... Calls>
void watch_all() {
  (Entry<Calls, false>::watch(), ...);
  (Entry<Calls, true>::watch(), ...);
}

}  // namespace

void watch(MPI_Request request, Persistent& persistent) {
  {
    const std::lock_guard lock(watched_requests().mutex);
    watched_requests().all[request] = &persistent;
  }
  watch_all<Start, Startall, Free, Wait, Waitall>();
}

void unwatch(MPI_Request request) {
  const std::lock_guard lock(watched_requests().mutex);
  watched_requests().all.erase(request);
}

void unwatch_all() {
  const std::lock_guard lock(watched_requests().mutex);
  watched_requests().all.clear();
}

}  // namespace swapmeet

#define SWAPMEET_WATCHED(name, Call, profiling, parameters, ...) \
  SWAPMEET_EXPORT int name parameters { return swapmeet::Entry<swapmeet::Call, profiling>::call(__VA_ARGS__); }
#define SWAPMEET_BOTH(Name, Call, parameters, ...)                   \
  SWAPMEET_WATCHED(MPI_##Name, Call, false, parameters, __VA_ARGS__) \
  SWAPMEET_WATCHED(PMPI_##Name, Call, true, parameters, __VA_ARGS__)

SWAPMEET_BOTH(Start, Start, (MPI_Request * request), request)
SWAPMEET_BOTH(Startall, Startall, (int count, MPI_Request requests[]), count, requests)
SWAPMEET_BOTH(Request_free, Free, (MPI_Request * request), request)
SWAPMEET_BOTH(Wait, Wait, (MPI_Request * request, MPI_Status* status), request, status)
SWAPMEET_BOTH(Waitall, Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), count, requests, statuses)
