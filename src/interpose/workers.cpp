#include "interpose/workers.hpp"

#include <algorithm>

#include "execute/agreement.hpp"
#include "execute/context.hpp"
#include "execute/world_ranks.hpp"
#include "interpose/requests.hpp"

namespace swapmeet {

namespace {

/// MPI calls this when the application frees a communicator that has a worker. What was started is still executed. But Open MPI
/// cannot free a communicator with a collective under way; and to free it is collective, so it may wait for the others. (MPICH
/// can, and may keep other threads out of MPI while it calls this.)
int close_worker(MPI_Comm, int, void* attribute, void*) {
  Worker* const worker = workers_agreed ? static_cast<Worker*>(attribute) : nullptr;
  if (!worker) return MPI_SUCCESS;
  if (!mpich_underneath) worker->wait_for_others();
  worker->close();
  return MPI_SUCCESS;
}

/// At the beginning of MPI_Finalize, as the delete callback of an attribute of MPI_COMM_SELF.
int close_all(MPI_Comm, int, void*, void*) {
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  workers_agreed = false;
  for (const auto& worker : all.alive) worker->close();
  all.alive.clear();
  all.planned.clear();
  PMPI_Comm_free(&all.bell);
  PMPI_Comm_free(&all.job);
  return MPI_SUCCESS;
}

int most_tag() {
  int* most = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  return found ? *most : 32767;  // as little as MPI allows
}

/// Whether all ranks want workers, can have them, and will choose the same algorithms. Collective over MPI_COMM_WORLD.
bool wanted_everywhere(const Options& options) {
  int provided = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&provided);
  const bool wanted = options.nonblocking_by_threads, able = wanted && provided == MPI_THREAD_MULTIPLE;
  const std::uint64_t choices = options.fingerprint(), mine[] = {choices, ~choices, able, !wanted};
  std::uint64_t least[4] = {};
  if (PMPI_Allreduce(mine, least, 4, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS || least[3]) return false;
  if (least[0] == ~least[1] && least[2]) return true;
  attach_to_mpi();
  warn_once("SWAPMEET_NONBLOCKING=thread needs MPI_THREAD_MULTIPLE, and the same SWAPMEET_ variables, on all ranks; leaving "
            "non-blocking and persistent all-to-alls to the MPI underneath");
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

void agree_on_workers() {
  if (!find_mpi()) return;
  Workers& all = workers();
  PMPI_Comm_rank(MPI_COMM_WORLD, &all.world_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &all.world_ranks);
  const Options& options = read_options_once(all.world_ranks);
  if (all.world_ranks == 1 || !wanted_everywhere(options)) return;
  if (options.algorithm && options.algorithm->family == Family::native) return;
  attach_to_mpi();
  all.tags = most_tag();
  all.job = same_ranks(MPI_COMM_WORLD);
  all.bell = same_ranks(MPI_COMM_SELF);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_worker, &all.keyval, nullptr);
  int exit_keyval = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_all, &exit_keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, exit_keyval, nullptr);
  workers_agreed = true;
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
  worker.wait_for_others();  // as such calls may; the communicator may be freed then
  const int error = worker.plan(std::move(exchange), request);
  if (error) return worker.close(), error;
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  all.planned[*request] = &worker;
  watch_requests();
  return MPI_SUCCESS;
}

Worker* worker_of_planned(MPI_Request request) {
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  const auto found = all.planned.find(request);
  return found == all.planned.end() ? nullptr : found->second;
}

Worker* take_planned(MPI_Request request) {
  Worker* const worker = worker_of_planned(request);
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  if (worker) all.planned.erase(request);
  return worker;
}

}  // namespace swapmeet
