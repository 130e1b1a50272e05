/* A wrong program: in MPI_Alltoallv rank 1 sends rank 0 more than rank 0 expects. Each rank says which class of error
 * it gets, and whether anything was written beyond what it expects; what the others send is checked.
 *
 *   node_wrong SENT EXPECTED [started]      started: by MPI_Ialltoallv, and waited for */
#include "node_blocks.h"

int main(int argc, char **argv) {
  int rank, ranks, right = 1, error_class = MPI_SUCCESS;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  must(argc >= 3, "arguments");
  const int sent = atoi(argv[1]), expected = atoi(argv[2]), usual = 100, room = sent + 2 * GUARD;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int call = 0; call < 3; ++call) exchange(MPI_COMM_WORLD, call, usual, 0);

  int *counts = malloc(4 * (size_t)ranks * sizeof *counts), *places = counts + ranks;
  int *wanted = places + ranks, *homes = wanted + ranks;
  unsigned char *out = malloc((size_t)ranks * (size_t)room), *in = malloc((size_t)ranks * (size_t)room);
  memset(in, POISON, (size_t)ranks * (size_t)room);
  for (int peer = 0; peer < ranks; ++peer) {
    places[peer] = homes[peer] = peer * room + GUARD;
    counts[peer] = rank == 1 && peer == 0 ? sent : usual;
    wanted[peer] = rank == 0 && peer == 1 ? expected : usual;
    for (int k = 0; k < counts[peer]; ++k) out[places[peer] + k] = block_byte(rank, peer, 7, (size_t)k);
  }
  int error;
  if (argc > 3) {
    MPI_Request request;
    error = MPI_Ialltoallv(out, counts, places, MPI_BYTE, in, wanted, homes, MPI_BYTE, MPI_COMM_WORLD, &request);
    if (!error) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    error = MPI_Alltoallv(out, counts, places, MPI_BYTE, in, wanted, homes, MPI_BYTE, MPI_COMM_WORLD);
  }
  MPI_Error_class(error, &error_class);
  int outside = 0;
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = -GUARD; k < room - GUARD; ++k) {
      const unsigned char byte = in[homes[peer] + k];
      if (k < 0 || k >= wanted[peer]) outside += byte != POISON;
      else if (!(rank == 0 && peer == 1)) right &= byte == block_byte(peer, rank, 7, (size_t)k);
    }
  printf("rank %d: %s, %d bytes outside, the others' blocks %s\n", rank,
         error_class == MPI_SUCCESS        ? "fine"
         : error_class == MPI_ERR_TRUNCATE ? "truncated"
                                           : "another error",
         outside, right ? "right" : "WRONG");
  fflush(stdout);
  free(counts), free(out), free(in);
  for (int call = 3; call < 6; ++call) exchange(MPI_COMM_WORLD, call, usual, 0); /* nothing is left in the way */
  if (rank == 0) puts("node: done");
  MPI_Finalize();
  return 0;
}
