/* left_behind HOW: what one call or communicator leaves behind does not serve the next one that looks like it. HOW:
 *   types   blocks of derived types, freed after each call: another type of other elements may get the handle
 *   once    communicators of two calls, one after the other in the same memory, to which one rank comes late; the
 *           blocks of the first call may travel with the set-up
 * Checks every answer. Prints "left_behind: right" or how many elements are wrong. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 8, MOST_INTS = 4, ROUNDS = 60 };

static int rank, ranks, wrong;
static int out[MOST_RANKS * MOST_INTS], in[MOST_RANKS * MOST_INTS];

static void fill(int ints, int round) {
  for (int i = 0; i < ranks * ints; ++i) out[i] = 10000 * round + 100 * rank + i;
  memset(in, 0xff, sizeof in);
}

static void check(int ints, int round) {
  for (int i = 0; i < MOST_RANKS * MOST_INTS; ++i) {
    const int from = i / ints;
    wrong += in[i] != (from < ranks ? 10000 * round + 100 * from + rank * ints + i % ints : -1);
  }
}

static void types(void) {
  for (int round = 0; round < ROUNDS; ++round) {
    const int ints = 1 + round % MOST_INTS;
    MPI_Datatype type;
    MPI_Type_contiguous(ints, MPI_INT, &type);
    MPI_Type_commit(&type);
    fill(ints, round);
    MPI_Alltoall(out, 1, type, in, 1, type, MPI_COMM_WORLD);
    check(ints, round);
    MPI_Type_free(&type);
  }
}

static void once(void) {
  enum { LATE_US = 2000 };
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    for (int call = 2 * round; call < 2 * round + 2; ++call) {
      fill(1, call);
      if (round % ranks == rank) usleep(LATE_US);
      MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
      check(1, call);
    }
    MPI_Comm_free(&comm);
  }
}

int main(int argc, char **argv) {
  int all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || ranks > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  strcmp(argv[1], "types") == 0 ? types() : once();
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all > 0) printf("left_behind: %d elements wrong\n", all);
  else if (rank == 0) puts("left_behind: right");
  MPI_Finalize();
  return 0;
}
