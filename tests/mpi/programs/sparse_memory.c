/* Sparse exchanges in which one rank has no memory: rank 1 sends rank 0 so many messages of one byte and one large
 * message; the others send it a few, and a large one. Each rank sends one small message to each other rank. On one rank
 * large allocations of the library fail (fault.c), from the first one on, then from the second one on, and so on. After
 * each such exchange comes one without a fault.
 *
 * Arguments: the spec, the messages for rank 0, the bytes of the large one, the rank without memory, the least bytes of
 * an allocation that fails, the first and the last to fail. Rank by rank and fault by fault a line:
 *   fault 3 rank 1: e.
 * with a letter for each of the two exchanges: "." is right, "e" returned an error, "W" is wrong. A rank without memory
 * for its own messages sends none, which is right. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <swapmeet/swapmeet.h>

static int rank, ranks, many;
static long large_bytes;

/* Messages of `source` to `destination`, and the bytes of one of them. */
static int messages(int source, int destination) {
  if (source == destination) return 0;
  return destination != 0 ? 1 : 1 + (source == 1 ? many : many / 16);
}
static MPI_Count bytes_of(int source, int destination, int index) {
  return destination != 0 ? 5 : index + 1 == messages(source, 0) ? (MPI_Count)large_bytes : 1;
}
static unsigned char byte(int source, int destination, int index) {
  return (unsigned char)(17 * source + 5 * destination + index);
}

/* Whether all messages have come, except those of the rank `without`; -1: of none. */
static int right(const swapmeet_sparse_messages *got, int without) {
  int next = 0;
  for (int source = 0; source < ranks; ++source)
    for (int i = 0; source != without && i < messages(source, rank); ++i, ++next) {
      if (next >= got->count || got->sources[next] != source || got->sizes[next] != bytes_of(source, rank, i)) return 0;
      const unsigned char *const data = got->data[next];
      for (MPI_Count k = 0; k < got->sizes[next]; ++k)
        if (data[k] != byte(source, rank, i)) return 0;
    }
  return next == got->count;
}

/* `victim`: the rank that may lack memory for its messages, and then sends none; -1: none does. */
static char exchange(int victim) {
  const int number = many + ranks;
  int *const to = malloc((size_t)number * sizeof *to), next = 0;
  MPI_Count *const counts = malloc((size_t)number * sizeof *counts);
  unsigned char *const out = malloc((size_t)(number * 5 + large_bytes)), *end = out;
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < messages(rank, peer); ++i) {
      to[next] = peer;
      counts[next] = bytes_of(rank, peer, i);
      for (MPI_Count k = 0; k < counts[next]; ++k) *end++ = byte(rank, peer, i);
      ++next;
    }
  swapmeet_sparse_messages *got = NULL;
  const int error = swapmeet_sparse_alltoallv(out, next, to, counts, NULL, MPI_BYTE, MPI_COMM_WORLD, &got);
  const char letter = error ? 'e' : right(got, -1) || (victim >= 0 && right(got, victim)) ? '.' : 'W';
  swapmeet_sparse_free(&got);
  free(to), free(counts), free(out);
  return letter;
}

int main(int argc, char **argv) {
  int (*arm)(const char *, long, size_t);
  *(void **)&arm = dlsym(RTLD_DEFAULT, "fault_arm");
  if (argc != 8 || !arm || !arm("nothing", 0, 0))
    return fputs("sparse_memory: preload libswapmeet.so and fault.so\n", stderr), 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  many = atoi(argv[2]), large_bytes = atol(argv[3]);
  if (swapmeet_set_algorithm(MPI_COMM_WORLD, argv[1]) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  int wrong = exchange(-1) != '.';
  const int victim = atoi(argv[4]);
  for (int nth = atoi(argv[6]); nth <= atoi(argv[7]); ++nth) {
    if (rank == victim) arm("malloc*1000000000", nth, (size_t)atol(argv[5]));
    const char first = exchange(victim);
    arm("nothing", 0, 0);
    const char second = exchange(-1);
    printf("fault %d rank %d: %c%c\n", nth, rank, first, second);
    fflush(stdout);
    wrong += first == 'W' || second != '.';
  }
  MPI_Finalize();
  return wrong != 0;
}
