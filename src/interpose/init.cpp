/// The entry points MPI_Init, MPI_Init_thread and MPI_Finalize.
///
/// MPI_Init makes the state of the process. It is also the only call in which all ranks may agree before the first
/// non-blocking call, which must not wait for other ranks. MPI_Finalize ends the activities that must stop before the
/// host MPI begins to end; everything else ends with MPI_COMM_SELF (session/context.cpp). Each entry point calls the
/// next definition of its own name, because a tool that is loaded after this library begins there.
#include <atomic>
#include <cstring>
#include <string>

#include "api/export.hpp"
#include "interpose/foreign.hpp"
#include "mpi/guard.hpp"
#include "mpi/progress.hpp"
#include "mpi/progress_thread.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "session/context.hpp"

namespace swapmeet {

namespace {

constexpr const char* wanted = "SWAPMEET_NONBLOCKING=thread";

/// The progress thread of this process. It is never destroyed, because a process may exit while the thread runs.
ProgressThread& thread_of_process() {
  static ProgressThread* const only = new ProgressThread;
  return *only;
}

JobThread thread_here(const Options& options) {
  if (options.nonblocking != Options::Nonblocking::threads) return JobThread::unwanted;
  if (options.algorithm && options.algorithm->family == Family::native) return JobThread::unwanted;
  const int error = thread_of_process().make();
  if (error) warn(std::string(wanted) + ": no thread can be made: " + std::strerror(error));
  return thread_of_process().made() && has_several_threads() ? JobThread::able : JobThread::unable;
}

/// Ends this rank's progress thread, if it has one, and waits for its end. Must be called before MPI_Finalize: in it,
/// MPICH no longer locks the state that threads share (mpir_init.c of 5.0). A thread that is inside MPI at that moment
/// leaves a lock taken, which ends the program.
void end_thread() {
  if (!has_progress_thread()) return;
  advance_by_thread(nullptr);
  thread_of_process().end();
}

/// The agreement of all ranks of the job, once the communicator of the job exists. It settles the settings that
/// non-blocking calls depend on, among them SWAPMEET_NONBLOCKING=thread, which requires that every rank has a thread that
/// advances its exchanges. Collective over MPI_COMM_WORLD.
void agree() {
  if (simulated) return;  // simulated ranks are not threads, and start no non-blocking exchanges
  const Options& options = context().options;
  const JobThread mine = thread_here(options);
  JobFacts here = facts_of(options);
  here.locked = host_is_mpich && has_several_threads();
  here.threaded = has_several_threads();
  here.thread = mine;
  const JobFacts& facts = context().job.agree(here, context().fingerprint);
  if (facts.thread == JobThread::able) {
    at_end(end_thread);  // for programs whose MPI_Finalize does not pass through this library
    thread_of_process().begin();
    advance_by_thread(&thread_of_process());
    return;
  }
  thread_of_process().end();
  if (mine == JobThread::unwanted || context().world_ranks == 1) return;
  const char* const why = facts.thread == JobThread::unwanted
                              ? " is not set for all ranks"
                              : " needs MPI_THREAD_MULTIPLE, and a thread, on all ranks";
  warn_once(wanted, std::string(why) + "; leaving non-blocking and persistent all-to-alls to the host MPI");
}

void mpi_begins() {
  guarded([] {
    if (!mpi_suits()) return MPI_SUCCESS;
    static std::atomic<bool> called{false};  // a tool's MPI_Init calls PMPI_Init, which this library defines, too
    if (called.exchange(true) && !simulated) return MPI_SUCCESS;
    attach_to_mpi();
    context().job.make_alone();
    if (context().world_ranks > 1) context().job.begin(patience_s());
    return agree(), MPI_SUCCESS;
  });
}

void mpi_ends() {
  guarded([] {
    end_thread();
    end_progress();
    // Invalidates the caches of recent communicators. Communicators of sessions live on, and their calls are left to
    // the host MPI.
    forget_handles();
    return MPI_SUCCESS;
  });
}

}  // namespace

}  // namespace swapmeet

#define SWAPMEET_INIT(name, Name, parameters, ...)                                           \
  SWAPMEET_EXPORT int name parameters {                                                      \
    const auto next = reinterpret_cast<decltype(&name)>(swapmeet::needed_mpi_symbol(#name)); \
    const int error = next(__VA_ARGS__);                                                     \
    if (!error) swapmeet::mpi_begins();                                                      \
    return error;                                                                            \
  }

SWAPMEET_ENTRIES(SWAPMEET_INIT, Init, (int* argc, char*** argv), argc, argv)
SWAPMEET_ENTRIES(SWAPMEET_INIT, Init_thread, (int* argc, char*** argv, int required, int* provided), argc, argv,
                 required, provided)

#define SWAPMEET_FINALIZE(name, Name)                                                        \
  SWAPMEET_EXPORT int name() {                                                               \
    const auto next = reinterpret_cast<decltype(&name)>(swapmeet::needed_mpi_symbol(#name)); \
    swapmeet::mpi_ends();                                                                    \
    return next();                                                                           \
  }

SWAPMEET_ENTRIES(SWAPMEET_FINALIZE, Finalize)

// Communicators of sessions may be used after MPI_Finalize, in which this library ends. So it must know that there are
// sessions.
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define SWAPMEET_SESSION(name, Name)                                                   \
  SWAPMEET_NAMED(name, (swapmeet::Handle a, swapmeet::Handle b, swapmeet::Handle c)) { \
    swapmeet::sessions_opened = true;                                                  \
    return swapmeet::pass_on(#name, a, b, c);                                          \
  }

SWAPMEET_ENTRIES(SWAPMEET_SESSION, Session_init)
#endif
