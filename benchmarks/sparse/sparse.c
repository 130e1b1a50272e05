/* Times sparse exchanges and what they are compared with, in turns that chance decides, and prints one line of JSON:
 *
 *   sparse MESSAGES BYTES ROUNDS SEED METHOD...
 *
 * Each rank sends MESSAGES messages of BYTES bytes to ranks that chance decides, the same in each round for all methods.
 * A METHOD is a spec of Swapmeet, or `alltoallv`: counts by MPI_Alltoall, then MPI_Alltoallv, both of the host MPI. A
 * time is that of the slowest rank, from a barrier on; of each method the first round does not count. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <swapmeet/swapmeet.h>

enum { MOST = 16 };

static int rank, ranks, messages, bytes;

static uint64_t draw(uint64_t *state, uint64_t end) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (x ^ (x >> 31)) % end;
}

/* @return how many bytes came */
static long long by_alltoallv(const char *out, const int *to, MPI_Comm comm) {
  int *counts = calloc((size_t)ranks * 4, sizeof *counts), *places = counts + ranks;
  int *coming = places + ranks, *homes = coming + ranks;
  long long all = 0;
  char *sorted = malloc((size_t)messages * (size_t)bytes + 1), *in;
  for (int i = 0; i < messages; ++i) counts[to[i]] += bytes;
  MPI_Alltoall(counts, 1, MPI_INT, coming, 1, MPI_INT, comm);
  for (int d = 1; d < ranks; ++d) places[d] = places[d - 1] + counts[d - 1];
  for (int d = 0; d < ranks; ++d) homes[d] = (int)all, all += coming[d];
  memset(counts, 0, (size_t)ranks * sizeof *counts);
  for (int i = 0; i < messages; ++i) {
    memcpy(sorted + places[to[i]] + counts[to[i]], out + (size_t)i * (size_t)bytes, (size_t)bytes);
    counts[to[i]] += bytes;
  }
  in = malloc((size_t)all + 1);
  MPI_Alltoallv(sorted, counts, places, MPI_BYTE, in, coming, homes, MPI_BYTE, comm);
  free(in), free(sorted), free(counts);
  return all;
}

static long long by_swapmeet(const char *out, const int *to, const MPI_Count *counts, MPI_Comm comm) {
  swapmeet_sparse_messages *got = NULL;
  long long all = 0;
  if (swapmeet_sparse_alltoallv(out, messages, to, counts, NULL, MPI_BYTE, comm, &got)) MPI_Abort(comm, 3);
  for (int i = 0; i < got->count; ++i) all += got->sizes[i];
  swapmeet_sparse_free(&got);
  return all;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int methods = argc - 5;
  if (methods < 1 || methods > MOST) MPI_Abort(MPI_COMM_WORLD, 2);
  messages = atoi(argv[1]), bytes = atoi(argv[2]);
  const int rounds = atoi(argv[3]);
  uint64_t common = (uint64_t)atoi(argv[4]), own = common * 1000003 + (uint64_t)rank;
  MPI_Comm comms[MOST];
  for (int m = 0; m < methods; ++m) {
    const int host = strcmp(argv[5 + m], "alltoallv") == 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[m]);
    if (swapmeet_set_algorithm(comms[m], host ? "native" : argv[5 + m])) MPI_Abort(MPI_COMM_WORLD, 4);
  }
  double *times = calloc((size_t)methods * (size_t)rounds, sizeof *times);
  char *out = calloc((size_t)messages * (size_t)bytes + 1, 1);
  int *to = calloc((size_t)messages + 1, sizeof *to);
  MPI_Count *counts = calloc((size_t)messages + 1, sizeof *counts);
  for (int round = -1; round < rounds; ++round) {
    int order[MOST];
    long long expected = -1;
    for (int i = 0; i < messages; ++i) to[i] = (int)draw(&own, (uint64_t)ranks), counts[i] = bytes;
    for (int m = 0; m < methods; ++m) order[m] = m;
    for (int m = methods - 1; m > 0; --m) {
      const int other = (int)draw(&common, (uint64_t)m + 1), one = order[m];
      order[m] = order[other], order[other] = one;
    }
    for (int k = 0; k < methods; ++k) {
      const int m = order[k], host = strcmp(argv[5 + m], "alltoallv") == 0;
      MPI_Barrier(MPI_COMM_WORLD);
      double time = -MPI_Wtime(), slowest;
      const long long came = host ? by_alltoallv(out, to, comms[m]) : by_swapmeet(out, to, counts, comms[m]);
      time += MPI_Wtime();
      if (expected >= 0 && came != expected) MPI_Abort(MPI_COMM_WORLD, 5);
      expected = came;
      MPI_Allreduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (round >= 0) times[m * rounds + round] = slowest;
    }
  }
  if (rank == 0) {
    printf("{\"ranks\": %d, \"messages\": %d, \"bytes\": %d, \"times_us\": {", ranks, messages, bytes);
    for (int m = 0; m < methods; ++m) {
      printf("%s\"%s\": [", m ? ", " : "", argv[5 + m]);
      for (int r = 0; r < rounds; ++r) printf("%s%.1f", r ? ", " : "", 1e6 * times[m * rounds + r]);
      printf("]");
    }
    printf("}}\n");
  }
  for (int m = 0; m < methods; ++m) MPI_Comm_free(&comms[m]);
  free(times), free(out), free(to), free(counts);
  MPI_Finalize();
  return 0;
}
