/* unequal: MPI_Alltoall calls that receive less, and more, than is sent. Prints for each what MPI returns, by class,
 * and whether anything was written outside the receive buffer. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RANKS = 16, ROOM = 4 * MOST_RANKS, POISON = 0x55555555 };

int main(int argc, char **argv) {
  int rank, ranks, sent[ROOM], received[ROOM];
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  static const int counts[][2] = {{2, 1}, {1, 2}};
  for (int k = 0; k < 2; ++k) {
    const int send_count = counts[k][0], receive_count = counts[k][1];
    for (int i = 0; i < ROOM; ++i) sent[i] = 100 * rank + i, received[i] = POISON;
    const int error = MPI_Alltoall(sent, send_count, MPI_INT, received, receive_count, MPI_INT, MPI_COMM_WORLD);
    int its_class = MPI_SUCCESS, outside = 0;
    MPI_Error_class(error, &its_class);
    for (int i = ranks * receive_count; i < ROOM; ++i) outside += received[i] != POISON;
    printf("rank %d sends %d, receives %d: class %d, %d elements outside\n", rank, send_count, receive_count, its_class,
           outside);
  }
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
