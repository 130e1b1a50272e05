#include "interpose/workers.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "mpi/agreement.hpp"
#include "session/context.hpp"
#include "mpi/guard.hpp"
#include "mpi/outcome.hpp"
#include "mpi/report.hpp"
#include "mpi/world_ranks.hpp"
#include "interpose/requests.hpp"

namespace swapmeet {

namespace {

constexpr const char* wanted = "SWAPMEET_NONBLOCKING=thread";

/// MPI calls this when the application frees a communicator that has a worker. What was started is still executed. But
/// Open MPI cannot free a communicator with a collective under way; and to free it is collective, so it may wait for
/// the others. (MPICH can, and may keep other threads out of MPI while it calls this.)
int close_worker(MPI_Comm, int, void* attribute, void*) {
  return guarded([&]() -> int {
    Worker* const worker = workers_agreed ? static_cast<Worker*>(attribute) : nullptr;
    if (!worker) return MPI_SUCCESS;
    if (!host_is_mpich) worker->wait_for_others();
    worker->close();
    return MPI_SUCCESS;
  });
}

/// At the beginning of MPI_Finalize, as the delete callback of an attribute of MPI_COMM_SELF.
int close_all(MPI_Comm, int, void*, void*) {
  return guarded([]() -> int {
    Workers& all = workers();
    const std::lock_guard lock(all.mutex);
    workers_agreed = false;
    for (const auto& worker : all.alive) worker->close();
    all.alive.clear();
    all.first_thread.end();
    all.first_thread.end();
    PMPI_Comm_free(&all.bell);
    PMPI_Comm_free(&all.job);
    return MPI_SUCCESS;
  });
}

/// A communicator of the ranks that want workers, which must be all. Nothing that other ranks do in the meantime is mistaken
/// for a part of this, unlike of any other collective. `thread` says so, if that takes long.
MPI_Comm meet_in_init(FirstThread& thread) {
  constexpr int tag = 25367;  // MPI keeps these apart from those of messages
  const int error =
      thread.make("warning: " + std::string(wanted) +
                  " still waits in MPI_Init for ranks that do not have it. Set it for all programs of the "
                  "job, and preload the library in all, or unset it.");
  if (error) warn(std::string(wanted) + ": no thread can be made: " + std::strerror(error));
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  if (again(PMPI_Comm_create_group, MPI_COMM_WORLD, all, tag, &comm) != MPI_SUCCESS) comm = MPI_COMM_NULL;
  PMPI_Group_free(&all);
  if (comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  thread.met();
  return comm;
}

/// Whether all ranks of `comm`, who want workers, can have them, and will choose the same algorithms. Collective.
bool possible_everywhere(const Options& options, bool threads, MPI_Comm comm) {
  int provided = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&provided);
  const bool able = threads && provided == MPI_THREAD_MULTIPLE;
  const std::uint64_t choices = options.fingerprint(), mine[] = {choices, ~choices, able};
  std::uint64_t least[3] = {};
  if (PMPI_Allreduce(mine, least, 3, MPI_UINT64_T, MPI_MIN, comm) != MPI_SUCCESS) return false;
  if (least[0] == ~least[1] && least[2]) return true;
  warn_once(std::string(wanted) +
            " needs MPI_THREAD_MULTIPLE, and the same SWAPMEET_ variables, on all ranks; leaving "
            "non-blocking and persistent all-to-alls to the host MPI");
  return false;
}

Worker& add_worker(MPI_Comm comm) {
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.alive, [](const auto& worker) { return worker->ended(); });
  all.alive.push_back(std::make_unique<Worker>(comm, all.made++));
  return *all.alive.back();
}

}  // namespace

Workers& workers() {
  static Workers* const all = new Workers;
  return *all;
}

namespace {

void agree_guarded() {
  static std::atomic<bool> called{false};  // MPI_Init of a tool behind us calls PMPI_Init, which is ours too
  // simulated ranks are no threads
  if (simulated || !secure_getenv("SWAPMEET_NONBLOCKING") || called.exchange(true) || !mpi_suits()) return;
  attach_to_mpi();
  const Options& options = context().options;
  if (options.nonblocking != Options::Nonblocking::threads) return;
  Workers& all = workers();
  PMPI_Comm_rank(MPI_COMM_WORLD, &all.world_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &all.world_ranks);
  if (all.world_ranks == 1) return;
  all.job = meet_in_init(all.first_thread);
  if (all.job == MPI_COMM_NULL) return all.first_thread.end();
  if (!possible_everywhere(options, all.first_thread.made(), all.job) ||
      (options.algorithm && options.algorithm->family == Family::native)) {
    PMPI_Comm_free(&all.job);
    return all.first_thread.end();
  }
  all.tags = most_tag();
  all.bell = this_rank_alone();
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_worker, &all.keyval, nullptr);
  int exit_keyval = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_all, &exit_keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, exit_keyval, nullptr);
  workers_agreed = true;
}

}  // namespace

void agree_on_workers() {
  guarded([] { return agree_guarded(), MPI_SUCCESS; });
}

bool has_workers(MPI_Comm comm) {
  int inter = 0, ranks = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return false;
  PMPI_Comm_size(comm, &ranks);
  return ranks > 1 && std::ranges::count(world_ranks_of(comm), MPI_UNDEFINED) == 0;
}

Worker* worker_of(MPI_Comm comm) {
  void* attribute = nullptr;
  int found = 0;
  const int keyval = workers().keyval;
  if (comm == MPI_COMM_NULL || PMPI_Comm_get_attr(comm, keyval, &attribute, &found) != MPI_SUCCESS) return nullptr;
  if (found) return static_cast<Worker*>(attribute);
  Worker* const worker = has_workers(comm) ? &add_worker(comm) : nullptr;
  PMPI_Comm_set_attr(comm, keyval, worker);
  return worker;
}

int plan_on_worker(MPI_Comm comm, Worker::Exchange exchange, MPI_Request* request) {
  Worker& worker = add_worker(comm);
  // as such calls may; the communicator may be freed then
  if (!worker.wait_for_others()) return worker.close(), MPI_ERR_OTHER;
  const int error = worker.plan(std::move(exchange), request);
  if (error) return worker.close(), error;
  watch(*request, worker);
  return MPI_SUCCESS;
}

}  // namespace swapmeet
