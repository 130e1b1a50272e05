/* A blocking all-to-all on a new communicator, non-blocking ones, and then another blocking one. Rank 0 starts its own late, and
 * looks at them before it calls the last one, in which the others are by then: it alone may know what the ranks have told one
 * another. Prints "left: right". */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { STARTS = 6, MOST = 16, LATE_US = 100000, LOOKS = 100, LOOK_US = 1000 };

int main(int argc, char **argv) {
  MPI_Comm comm;
  MPI_Request started[STARTS];
  int rank, ranks, wrong = 0, any = 0, sent[MOST], received[STARTS + 1][MOST];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
  for (int to = 0; to < ranks; ++to) sent[to] = 100 * rank + to;
  MPI_Alltoall(sent, 1, MPI_INT, received[STARTS], 1, MPI_INT, comm);
  if (rank == 0) usleep(LATE_US);
  for (int k = 0; k < STARTS; ++k) MPI_Ialltoall(sent, 1, MPI_INT, received[k], 1, MPI_INT, comm, &started[k]);
  for (int look = 0, flag; rank == 0 && look < LOOKS; ++look) {
    MPI_Testall(STARTS, started, &flag, MPI_STATUSES_IGNORE);
    usleep(LOOK_US);
  }
  MPI_Alltoall(sent, 1, MPI_INT, received[STARTS], 1, MPI_INT, comm);
  MPI_Waitall(STARTS, started, MPI_STATUSES_IGNORE);
  for (int k = 0; k <= STARTS; ++k)
    for (int from = 0; from < ranks; ++from) wrong += received[k][from] != 100 * from + rank;
  MPI_Comm_free(&comm);
  MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(any ? "left: wrong" : "left: right");
  MPI_Finalize();
  return any > 0;
}
