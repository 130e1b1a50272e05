/* One MPI_Alltoall of an int for each of up to 8 ranks, checked. */
#include <mpi.h>
int main(int argc, char **argv) {
  int ranks, rank, send[8], receive[8];
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < ranks; ++i) send[i] = 100 * rank + i;
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i)
    if (receive[i] != 100 * i + rank) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
