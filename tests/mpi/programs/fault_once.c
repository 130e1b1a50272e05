/* All-to-alls of unequal blocks, on one or more ranks of which a function fails in the first one (fault.c); before are
 * calls of empty blocks, after it is one without a fault. Each rank prints what became of the two calls: "right",
 * "an error" or "wrong".
 *
 * Arguments: the function that fails, and the ints of a block. Only rank 0 has data, blocks of that size for each other
 * rank, and the function fails on these. With a third argument, "staged", it fails on rank 0, which sends elements with
 * gaps, of that many ints to rank 1 and of a third of them to rank 2. Of allocations those of more than 16 bytes fail,
 * which is more than a rank without data sends; of staging memory those of a page and more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64, PAGE = 4096, LEAST_BYTES = 17, POISON = 0x5a5a5a5a };

static int rank, ranks, most, staged;
static int *out, *in;
static MPI_Datatype sent_type = MPI_INT; /* an int, and a gap of that size if `staged` */

/* The ints that rank `from` sends to rank `to`, of which the largest block has `ints`. */
static int length(int from, int to, int ints) { return from > 0 || to == 0 ? 0 : staged ? ints / (2 * to - 1) : ints; }

static const char *exchange(int ints) {
  int sent[MOST_RANKS], received[MOST_RANKS], places[MOST_RANKS], wrong = 0;
  for (int i = 0; i < ranks * most; ++i) out[staged ? 2 * i : i] = 100 + i, in[i] = POISON;
  for (int i = 0; i < ranks; ++i)
    places[i] = i * most, sent[i] = length(rank, i, ints), received[i] = length(i, rank, ints);
  const int error = MPI_Alltoallv(out, sent, places, sent_type, in, received, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * most; ++i) wrong += in[i] != (i < received[0] ? 100 + rank * most + i : POISON);
  return error ? "an error" : wrong ? "wrong" : "right";
}

int main(int argc, char **argv) {
  int (*arm)(const char *, long, size_t);
  *(void **)&arm = dlsym(RTLD_DEFAULT, "fault_arm");
  if (argc < 3 || !arm || !arm("nothing", 0, 0))
    return fputs("fault_once: preload libswapmeet.so and fault.so\n", stderr), 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  most = atoi(argv[2]);
  staged = argc > 3 && !strcmp(argv[3], "staged");
  if (staged) MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sent_type), MPI_Type_commit(&sent_type);
  out = malloc(2 * (size_t)ranks * (size_t)most * sizeof(int)), in = malloc((size_t)ranks * (size_t)most * sizeof(int));
  for (int i = 0; i < 3; ++i) exchange(0);
  if ((rank == 0) == staged) arm(argv[1], 1, staged ? PAGE : LEAST_BYTES);
  const char *const first = exchange(most);
  arm("nothing", 0, 0);
  printf("once rank %d: %s, then %s\n", rank, first, exchange(most));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
