/* exchange SECONDS BYTES [LATER]: MPI_Alltoall and MPI_Alltoallv in turn for so long, with blocks of so many bytes, of
 * LATER in the second half of the time, every byte checked; rank 0 prints how many, and that each rank was on a host, with
 * so many ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong;

static unsigned char value(int source, int destination, int call) {
  return (unsigned char)(31 * source + 7 * destination + 3 * call + 1);
}

static void check(const unsigned char *received, const int *counts, const int *places, int call) {
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < counts[peer]; ++k)
      if (received[places[peer] + k] != value(peer, rank, call) && wrong++ == 0)
        fprintf(stderr, "exchange: wrong data on rank %d from %d in call %d\n", rank, peer, call);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double seconds = atof(argv[1]);
  const int blocks[] = {atoi(argv[2]), atoi(argv[argc > 3 ? 3 : 2])};
  const size_t most = (size_t)(blocks[blocks[1] > blocks[0]] * ranks);
  unsigned char *send = malloc(most), *receive = malloc(most);
  int *counts = malloc((size_t)ranks * 2 * sizeof *counts), *places = counts + ranks, call = 0, half = 0;
  const double begin = MPI_Wtime();
  for (; half < 2; ++call) {
    const int bytes = blocks[half];
    for (int peer = 0; peer < ranks; ++peer) counts[peer] = bytes, places[peer] = peer * bytes;
    for (int peer = 0; peer < ranks; ++peer) memset(send + places[peer], value(rank, peer, call), (size_t)bytes);
    memset(receive, 0, (size_t)(bytes * ranks));
    if (call % 2) MPI_Alltoallv(send, counts, places, MPI_BYTE, receive, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    else MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD);
    check(receive, counts, places, call);
    half = (int)(2 * (MPI_Wtime() - begin) / seconds);
    MPI_Bcast(&half, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int size, *sizes = counts;
  MPI_Comm_size(node, &size);
  MPI_Gather(&size, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("nodes:");
    for (int peer = 0; peer < ranks; ++peer) printf(" %d", sizes[peer]);
    printf("\n%d calls, %d wrong\n", call, wrong);
  }
  MPI_Finalize();
  return wrong != 0;
}
