/* Overlap: while the blocks of one half of the data travel, the other half is computed. docs/api.md says how to compile
 * it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <swapmeet/swapmeet.h>

enum { block = 4096 }; /* elements to each rank, of each half */

static double value(int rank, int part, int i) { return 1.0 / (i + 10 * rank + part + 1); }

int main(int argc, char **argv) {
  double *out[2];
  double *in[2];
  swapmeet_plan *plans[2];
  int me, ranks, part, rank, i, done, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (part = 0; part < 2; ++part) {
    out[part] = malloc(sizeof(double) * block * ranks);
    in[part] = malloc(sizeof(double) * block * ranks);
    if (swapmeet_plan_alltoall(out[part], block, MPI_DOUBLE, in[part], block, MPI_DOUBLE, MPI_COMM_WORLD, NULL,
                               &plans[part])) {
      fprintf(stderr, "%s\n", swapmeet_error_message());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  for (part = 0; part < 2; ++part) {
    for (rank = 0; rank < ranks; ++rank) { /* in pieces, between which the exchange under way moves on */
      for (i = 0; i < block; ++i) out[part][rank * block + i] = value(me, part, i);
      swapmeet_plan_test(plans[1 - part], &done);
    }
    swapmeet_plan_start(plans[part]);
  }
  for (part = 0; part < 2; ++part) {
    swapmeet_plan_wait(plans[part]);
    swapmeet_plan_free(&plans[part]);
    for (rank = 0; rank < ranks; ++rank)
      for (i = 0; i < block; ++i) wrong += in[part][rank * block + i] != value(rank, part, i);
    free(out[part]);
    free(in[part]);
  }
  if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
  if (me == 0) puts("plan: right");
  MPI_Finalize();
  return 0;
}
