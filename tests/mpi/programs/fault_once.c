/* All-to-alls in which only rank 0 has data: blocks of so many ints for each other rank. On these a function fails in
 * the first one (fault.c); before are calls of empty blocks, after it is one without a fault. Each rank prints what
 * became of the two calls: "right", "an error" or "wrong".
 *
 * Arguments: the function that fails, the ints of a block. Of allocations those of more than 16 bytes fail, which is
 * more than a rank without data sends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_RANKS = 64, LEAST_BYTES = 17, POISON = 0x5a5a5a5a };

static int rank, ranks, most;
static int *out, *in;

static const char *exchange(int ints) {
  int sent[MOST_RANKS], received[MOST_RANKS], places[MOST_RANKS], wrong = 0;
  for (int i = 0; i < ranks * most; ++i) out[i] = 100 + i, in[i] = POISON;
  for (int i = 0; i < ranks; ++i) {
    places[i] = i * most;
    sent[i] = rank == 0 && i > 0 ? ints : 0;
    received[i] = rank > 0 && i == 0 ? ints : 0;
  }
  const int error = MPI_Alltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * most; ++i) wrong += in[i] != (i < received[0] ? 100 + rank * most + i : POISON);
  return error ? "an error" : wrong ? "wrong" : "right";
}

int main(int argc, char **argv) {
  int (*arm)(const char *, long, size_t);
  *(void **)&arm = dlsym(RTLD_DEFAULT, "fault_arm");
  if (argc != 3 || !arm || !arm("nothing", 0, 0))
    return fputs("fault_once: preload libswapmeet.so and fault.so\n", stderr), 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  most = atoi(argv[2]);
  out = malloc((size_t)ranks * (size_t)most * sizeof(int)), in = malloc((size_t)ranks * (size_t)most * sizeof(int));
  for (int i = 0; i < 3; ++i) exchange(0);
  if (rank > 0) arm(argv[1], 1, LEAST_BYTES);
  const char *const first = exchange(most);
  arm("nothing", 0, 0);
  printf("once rank %d: %s, then %s\n", rank, first, exchange(most));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
