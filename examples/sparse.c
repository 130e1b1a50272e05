/* Records find their owners: each rank has some keys, and sends each to the rank that owns it. Nobody knows from whom it
 * gets how many. docs/howto/sparse.md says more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <swapmeet/swapmeet.h>

enum { keys = 5 };

int main(int argc, char **argv) {
  long mine[keys], sum[2] = {0, 0}, all[2];
  int owners[keys], me, ranks, i, wrong = 0;
  MPI_Count counts[keys], k;
  swapmeet_sparse_messages *received;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 0; i < keys; ++i) { /* one message for each key; several may go to one rank */
    mine[i] = 1000L * me + 7 * i;
    owners[i] = (int)(mine[i] % ranks);
    counts[i] = 1;
    sum[0] += mine[i];
  }
  if (swapmeet_sparse_alltoallv(mine, keys, owners, counts, NULL, MPI_LONG, MPI_COMM_WORLD, &received)) {
    fprintf(stderr, "%s\n", swapmeet_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (i = 0; i < received->count; ++i) {
    const long *data = received->data[i];
    for (k = 0; k < received->sizes[i] / (MPI_Count)sizeof(long); ++k) {
      wrong += data[k] % ranks != me || data[k] / 1000 != received->sources[i];
      sum[1] += data[k];
    }
  }
  swapmeet_sparse_free(&received);
  MPI_Allreduce(sum, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (wrong || all[0] != all[1]) MPI_Abort(MPI_COMM_WORLD, 1);
  if (me == 0) puts("sparse: right");
  MPI_Finalize();
  return 0;
}
