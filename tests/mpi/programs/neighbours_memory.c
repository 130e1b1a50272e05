/* Exchanges with neighbours, of which each rank has so many that lists of them are large: all ranks in turn, again and
 * again. While the first exchange on a communicator is prepared, one large allocation of the library fails on rank 1
 * (fault.c): the first one, on the next communicator the second one, and so on.
 *
 * Arguments: the number of neighbours of each rank, the least bytes of an allocation that fails, the first and the last to
 * fail. Rank by rank and fault by fault a line:
 *   fault 3 rank 1 fired 1: ..
 * with a letter for each of two exchanges on the communicator: "." is right, "e" returned an error, "W" is wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, neighbours;

static char exchange(MPI_Comm comm, int *counts, int *places, int *out, int *in) {
  for (int i = 0; i < neighbours; ++i) {
    counts[i] = 1, places[i] = i, in[i] = -1;
    out[i] = 100000 * rank + i;
  }
  const int error = MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
  for (int i = 0; i < neighbours && !error; ++i) /* the i-th edge from a rank to another one is the i-th that comes */
    if (in[i] / 100000 != i % ranks) return 'W';
  return error ? 'e' : '.';
}

int main(int argc, char **argv) {
  int (*arm)(const char *, long, size_t);
  long (*fired)(void);
  *(void **)&arm = dlsym(RTLD_DEFAULT, "fault_arm"), *(void **)&fired = dlsym(RTLD_DEFAULT, "fault_fired");
  if (argc != 5 || !arm || !arm("nothing", 0, 0))
    return fputs("neighbours_memory: preload libswapmeet.so and fault.so\n", stderr), 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  neighbours = atoi(argv[1]);
  int *const memory = malloc(5 * (size_t)neighbours * sizeof *memory), wrong = 0;
  int *const peers = memory, *const counts = peers + neighbours, *const places = counts + neighbours;
  int *const out = places + neighbours, *const in = out + neighbours;
  for (int i = 0; i < neighbours; ++i) peers[i] = i % ranks;
  for (int nth = atoi(argv[3]); nth <= atoi(argv[4]); ++nth) {
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, neighbours, peers, peers, neighbours, peers, peers, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    if (rank == 1) arm("malloc", nth, (size_t)atol(argv[2]));
    const char first = exchange(graph, counts, places, out, in);
    const long failed = fired();
    const char second = exchange(graph, counts, places, out, in);
    printf("fault %d rank %d fired %ld: %c%c\n", nth, rank, failed, first, second);
    fflush(stdout);
    wrong += first == 'W' || second == 'W';
    MPI_Comm_free(&graph);
  }
  free(memory);
  MPI_Finalize();
  return wrong != 0;
}
