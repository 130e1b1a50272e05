/// All workers of the process, and whether there are any: on which the ranks agree in MPI_Init.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "interpose/first_thread.hpp"
#include "interpose/worker.hpp"

namespace swapmeet {

struct Workers {
  MPI_Comm job = MPI_COMM_NULL;  ///< the ranks of MPI_COMM_WORLD
  /// this rank alone; by it the threads tell the application that exchanges are complete
  MPI_Comm bell = MPI_COMM_NULL;
  int keyval = MPI_KEYVAL_INVALID;  ///< of the attribute that holds a Worker
  int world_rank = 0, world_ranks = 1, tags = 1;

  std::mutex mutex;  ///< guards what follows
  int made = 0;
  std::vector<std::unique_ptr<Worker>> alive;
  FirstThread first_thread;
};

/// Never destroyed: a process may exit while threads run.
Workers& workers();

/// Whether the application's non-blocking and persistent all-to-alls have workers: the same on all ranks.
inline std::atomic<bool> workers_agreed{false};

/// Called once MPI is initialised, before the application goes on. Collective over MPI_COMM_WORLD where
/// SWAPMEET_NONBLOCKING asks for workers, else nothing.
void agree_on_workers();

/// The worker of `comm`; nullptr, on all its ranks: it has none. Made on the first call, which is ordered as
/// collectives are, but local.
Worker* worker_of(MPI_Comm comm);

/// Whether communicators like `comm` have workers: the same on all its ranks. Local.
bool has_workers(MPI_Comm comm);

/// Makes a worker for one exchange on `comm`, which has_workers(), and the persistent request that starts it.
/// Collective. Returns as MPI does.
int plan_on_worker(MPI_Comm comm, Worker::Exchange exchange, MPI_Request* request);

}  // namespace swapmeet
