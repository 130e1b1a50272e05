/* An all-to-all of small blocks in which only rank 0 has data, and no other rank has memory for what it receives
 * (fault.c). They have memory for what they send, which is shorter. Each rank prints "right", "an error" or "wrong". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { RANKS = 4, INTS = 2, SENT_BYTES = 16, POISON = 0x5a5a5a5a };

static int rank, in[RANKS * INTS];

/* `ints`: of each block that rank 0 sends to another rank. */
static int exchange(int ints) {
  int out[RANKS * INTS], sent[RANKS], received[RANKS], places[RANKS];
  for (int i = 0; i < RANKS * INTS; ++i) out[i] = 100 + i, in[i] = POISON;
  for (int i = 0; i < RANKS; ++i) {
    places[i] = i * INTS;
    sent[i] = rank == 0 && i > 0 ? ints : 0;
    received[i] = rank > 0 && i == 0 ? ints : 0;
  }
  return MPI_Alltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int (*arm)(const char *, long, size_t);
  *(void **)&arm = dlsym(RTLD_DEFAULT, "fault_arm");
  if (!arm || !arm("nothing", 0, 0)) return fputs("fault_small: preload libswapmeet.so and fault.so\n", stderr), 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; ++i) exchange(0);
  if (rank > 0) arm("aligned_alloc*1000000000", 1, SENT_BYTES + 1);
  const int error = exchange(INTS);
  arm("nothing", 0, 0);
  int wrong = 0;
  for (int i = 0; i < RANKS * INTS; ++i) wrong += in[i] != (rank > 0 && i < INTS ? 100 + rank * INTS + i : POISON);
  printf("small rank %d: %s\n", rank, error ? "an error" : wrong ? "wrong" : "right");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
