/* stays FILE: exchanges blocks, prints "stays PID", waits until FILE is there, and exchanges again. Prints "right" on
 * each rank. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ranks_at_most = 8, block_bytes = 2000 };

static int exchange(int rank, int ranks) {
  static unsigned char send[ranks_at_most][block_bytes], receive[ranks_at_most][block_bytes];
  int wrong = 0;
  for (int peer = 0; peer < ranks; ++peer) memset(send[peer], 16 * rank + peer, block_bytes);
  memset(receive, 255, sizeof receive);
  MPI_Alltoall(send, block_bytes, MPI_BYTE, receive, block_bytes, MPI_BYTE, MPI_COMM_WORLD);
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < block_bytes; ++i) wrong += receive[peer][i] != 16 * peer + rank;
  return wrong;
}

int main(int argc, char **argv) {
  int rank, ranks, wrong;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  wrong = exchange(rank, ranks);
  printf("stays %d\n", (int)getpid());
  fflush(stdout);
  while (access(argv[1], F_OK) != 0) usleep(10000);
  wrong += exchange(rank, ranks);
  printf("%s\n", wrong ? "wrong" : "right");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
