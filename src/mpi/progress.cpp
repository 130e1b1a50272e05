#include "mpi/progress.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <optional>

#include "mpi/errors_return.hpp"
#include "mpi/outcome.hpp"
#include "mpi/progress_thread.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

namespace {

std::atomic<Advance> advance_all{nullptr};
std::atomic<ProgressThread*> progress_thread{nullptr};
std::atomic<bool (*)()> looker{nullptr};  ///< the argument of begin_looking()
std::atomic<bool> ended{false};           ///< whether MPI_Finalize has been called
std::atomic<MPI_Comm> looks_on{};         ///< the argument of look_for_messages_on(); valid if has_job
std::atomic<bool> has_job{false};

/// The state of return_next_error(). `errors_return` is true if `returning` has a value. Both are changed under the
/// mutex.
std::mutex returning_mutex;
std::optional<ErrorsReturn>& returning = *new std::optional<ErrorsReturn>;  // never destroyed: MPI may have ended then
std::atomic<bool> errors_return{false};
std::atomic<pid_t> awaiting{0};  ///< the thread whose error may not have been returned yet, by its number

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// Whether the error for which a thread asked last has been returned: the thread makes progress again, or has ended. A
/// thread that ends does not restore the error handler itself, because it must not call MPI while another thread does.
bool has_returned() {
  const pid_t thread = awaiting;
  return thread == this_thread() || (syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH);
}

/// Makes errors on MPI_COMM_WORLD return, or restores its error handler. MPICH gets MPI_ERRORS_RETURN, because MPICH
/// 5.0.2 returns no error from MPI_Wait once it has called an error handler. For each error the handler is replaced
/// anew, because the program may have set another one since. The function does nothing if another thread holds the
/// mutex: that thread may wait for a lock of the host MPI which this one holds.
void set_errors_return(bool wanted) {
  const std::unique_lock lock(returning_mutex, std::try_to_lock);
  if (!lock) return;
  if (wanted) awaiting = this_thread();
  returning.reset();
  if (wanted) returning.emplace(MPI_COMM_WORLD, host_is_mpich ? MPI_ERRORS_RETURN : ErrorsReturn::quiet_handler());
  errors_return = wanted;
}

/// Advances all started exchanges, and restores the error handler once it may.
[[maybe_unused]] AdvanceResult advance() {
  if (errors_return.load(std::memory_order_relaxed) && !ProgressThread::is_here() && has_returned()) [[unlikely]]
    set_errors_return(false);
  return advance_all.load(std::memory_order_relaxed)();
}

int make_plainly(const RequestCalls& calls, void* state, MPI_Request* request) {
  return PMPI_Grequest_start(calls.query, calls.free, calls.cancel, state, request);
}

#if defined(OMPI_MAJOR_VERSION)

using Register = int (*)(int (*)());

Register registrar() {
  static const auto found = reinterpret_cast<Register>(mpi_symbol("opal_progress_register"));
  return found;
}

/// The callback in Open MPI's progress. It returns the number of completed operations: if that is 0, the host MPI may
/// yield the core.
int poll() { return advance() == AdvanceResult::rested; }

/// Registers the callback once and for ever, because removing it would cost more than its calls.
void register_poll() {
  static const int once = registrar()(poll);
  static_cast<void>(once);
}

int make(const RequestCalls& calls, void* state, MPI_Request* request) { return make_plainly(calls, state, request); }

int poll_looker() { return looker.load(std::memory_order_relaxed)(), 0; }

/// Registers a callback of low priority, which Open MPI calls less often.
bool register_looker() {
  static const auto enter = reinterpret_cast<Register>(mpi_symbol("opal_progress_register_lp"));
  return enter && mpi_symbol("opal_progress_unregister") && enter(poll_looker) == 0;
}

void unregister_looker() {
  static const auto leave = reinterpret_cast<Register>(mpi_symbol("opal_progress_unregister"));
  if (leave) leave(poll_looker);
}

#elif defined(MPICH_VERSION)

// Declarations that the mpi.h of newer versions of MPICH has.
enum : int { no_progress = 0, done = 1 };
constexpr int no_stream = 0x3c000000;
using Poll = int (*)(void* thing);
using Register = int (*)(Poll, void* state, int stream);

Register registrar() {
  static const auto found = reinterpret_cast<Register>(mpi_symbol("PMPIX_Async_start"));
  return found;
}

std::atomic<bool> registered{false};

/// The callback in MPICH's progress. It ends itself when nothing has been under way for `most_idle` calls. It must end
/// at some time, because MPI_Finalize waits for that; it does not end at once, because registering it anew takes longer
/// than a call.
int poll(void*) {
  constexpr std::uint32_t most_idle = 1000;
  static std::atomic<std::uint32_t> idle{0};
  if (advance() != AdvanceResult::idle) return idle.store(0, std::memory_order_relaxed), no_progress;
  if (idle.fetch_add(1, std::memory_order_relaxed) < most_idle) return no_progress;
  registered = false;
  return advance() == AdvanceResult::idle || registered.exchange(true) ? done : no_progress;
}

void register_poll() {
  if (!ended && !registered.exchange(true) && registrar()(poll, nullptr, no_stream) != MPI_SUCCESS) registered = false;
}

std::atomic<bool> looker_registered{false};

int poll_looker(void*) {
  if (looker.load(std::memory_order_relaxed)()) return no_progress;
  looker_registered = false;
  return looker.load(std::memory_order_relaxed)() && !looker_registered.exchange(true) ? no_progress : done;
}

bool register_looker() {
  if (!registrar() || ended) return false;
  if (!looker_registered.exchange(true) && registrar()(poll_looker, nullptr, no_stream) != MPI_SUCCESS)
    looker_registered = false;
  return looker_registered;
}

/// Does nothing: the callback ends itself when `looker` returns false.
void unregister_looker() {}

/// The poll function of a generalised request. MPI_Wait calls it in a loop instead of making progress, which takes 0.8
/// us (MPICH 5). So it probes for messages now and then.
int poll_request(void*, MPI_Status*) {
  constexpr std::uint32_t calls_between = 64;  ///< number of calls between two probes
  thread_local std::uint32_t calls = 0;
  advance();
  if (++calls % calls_between == 0) look_for_messages();
  return MPI_SUCCESS;  // MPICH ends the application after any other value
}

std::atomic<bool (*)(void*)> over = nullptr;  ///< RequestCalls::over, which is the same for all requests

/// The wait function of generalised requests, which MPI_Waitall calls for several requests instead of polling each.
int wait_for_requests(int count, void** states, double, MPI_Status* status) {
  const auto is_over = over.load(std::memory_order_relaxed);
  for (int i = 0; i < count; ++i)
    while (!is_over(states[i]))
      if (const int error = poll_request(states[i], status)) return error;
  return MPI_SUCCESS;
}

int make(const RequestCalls& calls, void* state, MPI_Request* request) {
  using PollRequest = int (*)(void*, MPI_Status*);
  using WaitForAll = int (*)(int, void**, double, MPI_Status*);
  using Start = int (*)(MPI_Grequest_query_function*, MPI_Grequest_free_function*, MPI_Grequest_cancel_function*,
                        PollRequest, WaitForAll, void*, MPI_Request*);
  static const auto start = reinterpret_cast<Start>(mpi_symbol("PMPIX_Grequest_start"));
  over.store(calls.over, std::memory_order_relaxed);
  return start ? start(calls.query, calls.free, calls.cancel, poll_request, wait_for_requests, state, request)
               : make_plainly(calls, state, request);
}

#else

void* registrar() { return nullptr; }
bool register_looker() { return false; }
void unregister_looker() {}
void register_poll() {}
int make(const RequestCalls& calls, void* state, MPI_Request* request) { return make_plainly(calls, state, request); }

#endif

}  // namespace

bool has_several_threads() {
  int provided = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

bool progress_is_locked() { return host_is_mpich && !progress_thread && has_several_threads(); }

void advance_by_thread(ProgressThread* thread) { progress_thread = thread; }

bool has_progress_thread() { return progress_thread != nullptr; }

const char* advanced_by() {
  return has_progress_thread() ? "; advanced by a thread" : "; advanced in the host MPI's progress";
}

int most_tag() {
  const auto* const most = static_cast<const int*>(attribute_of(MPI_COMM_WORLD, MPI_TAG_UB));
  return most ? *most : 32767;  // the smallest upper bound that MPI allows
}

void look_for_messages_on(MPI_Comm job) {
  looks_on.store(job, std::memory_order_relaxed);
  has_job.store(job != MPI_COMM_NULL, std::memory_order_release);
}

void look_for_messages() {
  static const int tag = most_tag();
  const MPI_Comm job =
      has_job.load(std::memory_order_acquire) ? looks_on.load(std::memory_order_relaxed) : MPI_COMM_WORLD;
  int flag = 0;  // a probe on MPI_COMM_SELF would not advance other messages in MPICH
  PMPI_Iprobe(MPI_ANY_SOURCE, tag, job, &flag, MPI_STATUS_IGNORE);
}

bool has_progress() { return !simulated && (progress_thread || registrar()); }

void begin_progress(Advance advance) {
  advance_all.store(advance, std::memory_order_relaxed);
  if (ProgressThread* const thread = progress_thread.load(std::memory_order_relaxed)) {
    thread->wake(advance);
    if (host_is_mpich) return;  // no callback is registered then: see progress_is_locked()
  }
  if (registrar()) register_poll();
}

bool begin_looking(bool (*look)()) {
  looker.store(look, std::memory_order_relaxed);
  return register_looker();
}

void end_looking() { unregister_looker(); }

void end_progress() { ended = true; }

void return_next_error() { set_errors_return(true); }

int make_request(Advance advance, const RequestCalls& calls, void* state, MPI_Request* request) {
  advance_all.store(advance, std::memory_order_relaxed);
  return again([&]() -> int { return make(calls, state, request); });
}

}  // namespace swapmeet
