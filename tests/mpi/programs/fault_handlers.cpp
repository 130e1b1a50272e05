// A rank dies where the application has an error handler: fault_handlers count|throw CALLS FILE. Rank 1 kills itself before
// so many calls; every other rank adds "once" to FILE when its handler was called once, by the call that had the error,
// and what is left exchanges right.
#include <mpi.h>
#include <mpi-ext.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {

enum { MOST_RANKS = 16 };

bool throws;
int handled;

void handle(MPI_Comm*, int* code, ...) {
  ++handled;
  if (throws) throw *code;
}

/// The error of one call.
int exchange(MPI_Comm comm, int call, int& wrong) {
  int rank, ranks, sent[MOST_RANKS], received[MOST_RANKS], error = MPI_SUCCESS;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int peer = 0; peer < ranks; ++peer) sent[peer] = 1000 * rank + peer + call, received[peer] = -1;
  try {
    error = MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm);
  } catch (int thrown) { error = thrown; }
  for (int peer = 0; !error && peer < ranks; ++peer) wrong += received[peer] != 1000 * peer + rank + call;
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  throws = std::strcmp(argv[1], "throw") == 0;
  std::FILE* const file = std::fopen(argv[3], "a");
  MPI_Init(&argc, &argv);
  MPI_Comm comm, left;
  MPI_Errhandler handler;
  int rank, wrong = 0, error = MPI_SUCCESS, flag = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int call = 0; !error; ++call) {
    if (rank == 1 && call == std::atoi(argv[2])) kill(getpid(), SIGKILL);
    error = exchange(comm, call, wrong);
  }
  const int times = handled;
  throws = false;
  MPIX_Comm_revoke(comm);
  MPIX_Comm_shrink(comm, &left);
  for (int call = 0; call < 20; ++call) wrong += exchange(left, call, wrong) != MPI_SUCCESS;
  if (times == 1 && wrong == 0) std::fprintf(file, "once\n");
  else std::fprintf(file, "rank %d: handled %d times, %d wrong\n", rank, times, wrong);
  std::fflush(file);
  MPIX_Comm_agree(left, &flag);
  MPI_Barrier(left);
  _exit(0);  // MPI_Finalize of Open MPI 5.0 waits for the dead now and then
}
