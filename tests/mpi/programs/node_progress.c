/* A legal program that a wait loop without MPI's progress would stop for ever. Each odd rank sends its left neighbour a
 * message that takes both (a rendezvous), and joins the all-to-all only then; the left neighbour has posted its
 * receive, is in the all-to-all meanwhile, and waits for the receive only afterwards. The odd rank begins late: what it
 * sends arrives while the other waits.
 *
 *   node_progress BLOCK_BYTES CALLS */
#include <unistd.h>

#include "node_blocks.h"

enum { LARGE = 8 << 20, TAG = 5 };

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  must(argc == 3, "arguments");
  const int bytes = atoi(argv[1]), count = atoi(argv[2]);
  unsigned char *large = malloc(LARGE);
  for (int call = 0; call < 3; ++call) exchange(MPI_COMM_WORLD, call, bytes, 0); /* all is prepared by then */
  for (int call = 0; call < count; ++call) {
    if (rank % 2 == 1) {
      for (size_t k = 0; k < LARGE; ++k) large[k] = block_byte(rank, rank - 1, call, k);
      usleep(20000);
      MPI_Send(large, LARGE, MPI_BYTE, rank - 1, TAG, MPI_COMM_WORLD);
      exchange(MPI_COMM_WORLD, call, bytes, call % 2);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      memset(large, POISON, LARGE);
      if (rank + 1 < ranks) MPI_Irecv(large, LARGE, MPI_BYTE, rank + 1, TAG, MPI_COMM_WORLD, &request);
      exchange(MPI_COMM_WORLD, call, bytes, call % 2);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      int same = 1;
      for (size_t k = 0; rank + 1 < ranks && k < LARGE; ++k) same &= large[k] == block_byte(rank + 1, rank, call, k);
      must(same, "the message beside the all-to-all");
    }
  }
  if (rank == 0) puts("node: done");
  free(large);
  MPI_Finalize();
  return 0;
}
