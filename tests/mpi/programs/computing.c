/* computing BYTES CALLS MICROSECONDS [v] [planned]: MPI_Ialltoall (v: MPI_Ialltoallv of unequal blocks; planned: a persistent
 * request) of up to BYTES, then computing for MICROSECONDS (negative: by an accelerator, which leaves the core free), then
 * MPI_Wait; so often. Prints microseconds from one start to the next, the median of the slowest rank, and "computing: right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ascending(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* Of the block from `source` to `destination`. */
static int size(int bytes, int source, int destination) { return (source + 2 * destination) % (bytes + 1); }

static void compute(double us) {
  if (us < 0) usleep((unsigned)-us);
  for (const double end = MPI_Wtime() + 1e-6 * us; us > 0 && MPI_Wtime() < end;) continue;
}

int main(int argc, char **argv) {
  int me, ranks, wrong = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4) return MPI_Abort(MPI_COMM_WORLD, 2);
  int varies = 0, planned = 0;
  for (int i = 4; i < argc; ++i) varies |= strcmp(argv[i], "v") == 0, planned |= strcmp(argv[i], "planned") == 0;
  const int bytes = atoi(argv[1]), calls = atoi(argv[2]);
  const double us = atof(argv[3]);
  unsigned char *const sent = malloc((size_t)ranks * bytes), *const received = malloc((size_t)ranks * bytes);
  double *const times = malloc((size_t)calls * sizeof *times), median = 0;
  int *const counts = malloc(3 * (size_t)ranks * sizeof *counts), *const expected = counts + ranks,
             *const places = counts + 2 * ranks;
  for (int i = 0; i < ranks; ++i) {
    counts[i] = varies ? size(bytes, me, i) : bytes;
    expected[i] = varies ? size(bytes, i, me) : bytes;
    places[i] = i * bytes;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  if (planned && varies)
    MPI_Alltoallv_init(sent, counts, places, MPI_BYTE, received, expected, places, MPI_BYTE, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
  else if (planned)
    MPI_Alltoall_init(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int call = 0; call < calls; ++call) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < ranks * bytes; ++i) sent[i] = (unsigned char)(call + 3 * me + 5 * (i / bytes));
    memset(received, 0, (size_t)ranks * bytes);
    if (planned) MPI_Start(&request);
    else if (varies)
      MPI_Ialltoallv(sent, counts, places, MPI_BYTE, received, expected, places, MPI_BYTE, MPI_COMM_WORLD, &request);
    else MPI_Ialltoall(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    compute(us);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks * bytes; ++i) {
      const int source = i / bytes, there = i % bytes < expected[source];
      wrong += received[i] != (there ? (unsigned char)(call + 3 * source + 5 * me) : 0);
    }
    if (call == 1) MPI_Barrier(MPI_COMM_WORLD); /* where the ranks meet */
    times[call] = 1e6 * (MPI_Wtime() - begin);
  }
  if (planned) MPI_Request_free(&request);
  qsort(times + calls / 2, (size_t)(calls - calls / 2), sizeof *times, ascending); /* as it is in the long run */
  MPI_Reduce(&times[calls / 2 + (calls - calls / 2) / 2], &median, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf("%.1f us\n", median);
  if (me == 0) printf(all ? "computing: %d bytes are wrong\n" : "computing: right\n", all);
  free(sent), free(received), free(times), free(counts);
  MPI_Finalize();
  return 0;
}
