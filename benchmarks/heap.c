/* MPI_Alltoall of blocks of 16 KiB to 1 MiB in memory of malloc (heap) or MPI_Alloc_mem (heap alloc-mem): prints for each
 * size the first quartile and the median of the time of a call, and the least time of copying as much within one rank, all
 * in us. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 16 << 10, MOST = 1 << 20, VOLUME = 512 << 20, MOST_CALLS = 4000, COPIES = 50, LARGE = 256 << 10 };

static int by_alloc_mem;

static char *allocate(size_t bytes) {
  char *memory = NULL;
  if (bytes < LARGE) bytes = LARGE; /* smaller blocks do not come from the heap */
  if (by_alloc_mem) MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory);
  else memory = malloc(bytes);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 2);
  memset(memory, 1, bytes);
  return memory;
}

static void release(char *memory) {
  if (by_alloc_mem) MPI_Free_mem(memory);
  else free(memory);
}

static int ascending(const void *one, const void *other) {
  const double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static double copying(char *to, const char *from, int bytes, int ranks) {
  double least = 1e9;
  for (int i = 0; i < COPIES; ++i) {
    const double begin = MPI_Wtime();
    for (int k = 0; k < ranks; ++k) memcpy(to + (size_t)k * bytes, from + (size_t)k * bytes, (size_t)bytes);
    const double time = MPI_Wtime() - begin;
    if (time < least) least = time;
  }
  return least;
}

int main(int argc, char **argv) {
  static double times[MOST_CALLS];
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  by_alloc_mem = argc > 1 && !strcmp(argv[1], "alloc-mem");
  for (int bytes = LEAST; bytes <= MOST; bytes *= 2) {
    char *const send = allocate((size_t)bytes * ranks), *const receive = allocate((size_t)bytes * ranks);
    int calls = VOLUME / bytes;
    if (calls > MOST_CALLS) calls = MOST_CALLS;
    for (int i = 0; i < calls; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD);
      times[i] = MPI_Wtime() - begin;
    }
    qsort(times, (size_t)calls, sizeof *times, ascending);
    const double least = copying(receive, send, bytes, ranks);
    if (rank == 0) printf("%d %.2f %.2f %.2f\n", bytes, times[calls / 4] * 1e6, times[calls / 2] * 1e6, least * 1e6);
    release(send), release(receive);
  }
  MPI_Finalize();
  return 0;
}
