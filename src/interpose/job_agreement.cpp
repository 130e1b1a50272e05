#include "interpose/job_agreement.hpp"

#include <cstring>
#include <string>

#include "mpi/guard.hpp"
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

}  // namespace

void agree_in_job() {
  guarded([] { return agree(), MPI_SUCCESS; });
}

void end_thread() {
  if (!has_progress_thread()) return;
  advance_by_thread(nullptr);
  thread_of_process().end();
}

}  // namespace swapmeet
