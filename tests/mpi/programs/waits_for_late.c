/* waits_for_late: rank 0 starts MPI_Ialltoall, and rank 1 half a second later; meanwhile rank 0 sleeps, so that all time
 * of a processor that its process takes is of a thread that waits. Prints "N% of a core" and "waits_for_late: right". */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LATE_US = 500000, COUNT = 64 };

static double core_s(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
  int rank, provided, wrong = 0;
  int sent[2 * COUNT], received[2 * COUNT];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int call = 0; call < 3; ++call) { /* the first two make what such calls need */
    MPI_Request request;
    for (int i = 0; i < 2 * COUNT; ++i) sent[i] = 1000 * call + 100 * rank + i / COUNT, received[i] = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (call == 2 && rank == 1) usleep(LATE_US);
    const double before = core_s();
    MPI_Ialltoall(sent, COUNT, MPI_INT, received, COUNT, MPI_INT, MPI_COMM_WORLD, &request);
    if (call == 2 && rank == 0) usleep(LATE_US);
    if (call == 2 && rank == 0) printf("%.0f%% of a core\n", 100 * 1e6 * (core_s() - before) / LATE_US);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * COUNT; ++i) wrong += received[i] != 1000 * call + 100 * (i / COUNT) + rank;
  }
  if (rank == 0) puts(wrong ? "waits_for_late: wrong" : "waits_for_late: right");
  MPI_Finalize();
  return wrong != 0;
}
