/* plan_late SPEC: with MPI_THREAD_MULTIPLE, a plan of unequal blocks, which the last rank starts late while the others make the
 * host MPI's progress. Prints "plan_late: right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <swapmeet/swapmeet.h>
#include <unistd.h>

enum { LARGE = 20000 };

static int size(int source, int destination) { return LARGE + 100 * source + 10 * destination; }

int main(int argc, char **argv) {
  int me, ranks, provided, wrong = 0, all = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int *const counts = malloc(4 * (size_t)ranks * sizeof *counts), *const places = counts + ranks,
             *const received = places + ranks, *const in_places = received + ranks;
  int sent_bytes = 0, received_bytes = 0;
  for (int i = 0; i < ranks; ++i) {
    counts[i] = size(me, i), places[i] = sent_bytes, sent_bytes += counts[i];
    received[i] = size(i, me), in_places[i] = received_bytes, received_bytes += received[i];
  }
  unsigned char *const out = malloc((size_t)sent_bytes), *const in = calloc((size_t)received_bytes, 1);
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < counts[i]; ++k) out[places[i] + k] = (unsigned char)(1 + me * 31 + i * 7 + k);
  swapmeet_plan *plan = NULL;
  if (swapmeet_plan_alltoallv(out, counts, places, MPI_BYTE, in, received, in_places, MPI_BYTE, MPI_COMM_WORLD,
                              argc > 1 ? argv[1] : NULL, &plan) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 2);
  if (me == ranks - 1) usleep(200000);
  swapmeet_plan_start(plan);
  int found = 0;
  for (const double end = MPI_Wtime() + 0.3; MPI_Wtime() < end;)
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  swapmeet_plan_wait(plan);
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < received[i]; ++k) wrong += in[in_places[i] + k] != (unsigned char)(1 + i * 31 + me * 7 + k);
  swapmeet_plan_free(&plan);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf(all ? "plan_late: %d bytes are wrong\n" : "plan_late: right\n", all);
  free(out), free(in), free(counts);
  MPI_Finalize();
  return 0;
}
