#include "interpose/thread_agreement.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "mpi/agreement.hpp"
#include "mpi/guard.hpp"
#include "mpi/outcome.hpp"
#include "mpi/progress_thread.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "session/context.hpp"

namespace swapmeet {

namespace {

constexpr const char* wanted = "SWAPMEET_NONBLOCKING=thread";

/// Never destroyed: a process may exit while it runs.
ProgressThread& thread_of_process() {
  static ProgressThread* const only = new ProgressThread;
  return *only;
}

/// A communicator of the ranks that want threads, which must be all. Nothing that other ranks do in the meantime is mistaken
/// for a part of this, unlike of any other collective. The thread reports it if that takes long.
MPI_Comm meet_in_init() {
  constexpr int tag = 25367;  // MPI keeps these apart from those of messages
  const int error = thread_of_process().make("warning: " + std::string(wanted) +
                                             " still waits in MPI_Init for ranks that do not have it. Set it for all "
                                             "programs of the job, and preload the library in all, or unset it.");
  if (error) warn(std::string(wanted) + ": no thread can be made: " + std::strerror(error));
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  if (again(PMPI_Comm_create_group, MPI_COMM_WORLD, all, tag, &comm) != MPI_SUCCESS) comm = MPI_COMM_NULL;
  PMPI_Group_free(&all);
  if (comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

/// Whether all ranks of `comm` have a thread that may call MPI. Collective.
bool possible_everywhere(MPI_Comm comm) {
  const bool able = thread_of_process().made() && has_several_threads();
  if (most_of_any_rank(!able, comm) == 0) return true;
  warn_once(std::string(wanted) +
            " needs MPI_THREAD_MULTIPLE, and a thread, on all ranks; leaving non-blocking and persistent "
            "all-to-alls to the host MPI");
  return false;
}

void agree() {
  static std::atomic<bool> called{false};  // MPI_Init of a tool behind us calls PMPI_Init, which is ours too
  // simulated ranks are no threads
  if (simulated || !secure_getenv("SWAPMEET_NONBLOCKING") || called.exchange(true) || !mpi_suits()) return;
  attach_to_mpi();
  const Options& options = context().options;
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1 || options.nonblocking != Options::Nonblocking::threads) return;
  MPI_Comm job = meet_in_init();
  const bool agreed = job != MPI_COMM_NULL && possible_everywhere(job) &&
                      !(options.algorithm && options.algorithm->family == Family::native);
  if (job != MPI_COMM_NULL) PMPI_Comm_free(&job);
  if (!agreed) return thread_of_process().end();
  at_end(end_thread);  // where MPI_Finalize does not come by us
  thread_of_process().begin();
  advance_by_thread(&thread_of_process());
}

}  // namespace

void agree_on_thread() {
  guarded([] { return agree(), MPI_SUCCESS; });
}

void end_thread() {
  if (!has_progress_thread()) return;
  advance_by_thread(nullptr);
  thread_of_process().end();
}

}  // namespace swapmeet
