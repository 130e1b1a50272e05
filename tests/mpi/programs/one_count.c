/* one_count COUNT: MPI_Alltoall calls of one int for each rank, but that rank 1 sends and receives COUNT. Prints for each rank
 * "right", "an error", or "wrong" where it has not what the others have sent and no error; of rank 1, whose mistake it is, "an
 * error" or "its mistake". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_RANKS = 16, MOST_COUNT = 8 };

int main(int argc, char **argv) {
  int rank, ranks, send[MOST_RANKS * MOST_COUNT], receive[MOST_RANKS * MOST_COUNT], lacking = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2 || ranks > MOST_RANKS || atoi(argv[1]) > MOST_COUNT) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int count = rank == 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < ranks * count; ++i) send[i] = 100 * rank + i / count;
  for (int i = 0; i < ranks * count; ++i) receive[i] = -1;
  const int error = MPI_Alltoall(send, count, MPI_INT, receive, count, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; rank != 1 && i < ranks; ++i) lacking += receive[i] != 100 * i + rank;
  printf("rank %d: %s\n", rank, error ? "an error" : rank == 1 ? "its mistake" : lacking ? "wrong" : "right");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
