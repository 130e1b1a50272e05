/* mismatch from=R to=R sent=N expected=N others=N: rank `to` expects less of rank `from` than that sends; all other
 * blocks have `others` bytes. Says what became of the call on each rank, whether bytes that are nobody's were touched,
 * and whether blocks that were right arrived. Then a new communicator, on which everything is right, must work. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 1 << 16, POISON = 0x5a };

static int argument(int argc, char **argv, const char *name) {
  const size_t length = strlen(name);
  for (int k = 1; k < argc; ++k)
    if (strncmp(argv[k], name, length) == 0 && argv[k][length] == '=') return atoi(argv[k] + length + 1);
  return 0;
}

static unsigned char pattern(int source, int destination, int index) {
  return (unsigned char)(7 * source + 31 * destination + index % 251);
}

/* @return the error class; counts bytes that are wrong in blocks other than that of `doubtful`, and in between. */
static int exchange(MPI_Comm comm, const int *counts, const int *expected, int most, int doubtful, int *wrong) {
  int rank, ranks, class;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  /* guards on both sides of every block */
  const size_t place = (size_t)most + GUARD, all = (size_t)ranks * place + GUARD;
  unsigned char *out = malloc(all), *in = malloc(all);
  int *places = malloc((size_t)ranks * sizeof *places);
  memset(in, POISON, all);
  for (int peer = 0; peer < ranks; ++peer) {
    places[peer] = (int)((size_t)peer * place) + GUARD;
    for (int k = 0; k < counts[peer]; ++k) out[places[peer] + k] = pattern(rank, peer, k);
  }
  const int code = MPI_Alltoallv(out, counts, places, MPI_BYTE, in, expected, places, MPI_BYTE, comm);
  MPI_Error_class(code, &class);
  *wrong = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    for (int k = 0; k < expected[peer] && peer != doubtful; ++k)
      *wrong += in[places[peer] + k] != pattern(peer, rank, k);
    for (size_t k = (size_t)expected[peer]; k < place; ++k)
      if ((size_t)places[peer] + k < all) *wrong += 1000000 * (in[(size_t)places[peer] + k] != POISON); /* a guard */
  }
  for (int k = 0; k < GUARD; ++k) *wrong += 1000000 * (in[k] != POISON);
  free(out), free(in), free(places);
  return class;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int from = argument(argc, argv, "from"), to = argument(argc, argv, "to"),
            others = argument(argc, argv, "others");
  const int sent = argument(argc, argv, "sent"), most = sent > others ? sent : others;
  int *counts = malloc(2 * (size_t)ranks * sizeof *counts), *expected = counts + ranks;
  for (int peer = 0; peer < ranks; ++peer) counts[peer] = expected[peer] = others;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm faulty, sound;
  MPI_Comm_dup(MPI_COMM_WORLD, &faulty);
  MPI_Comm_dup(MPI_COMM_WORLD, &sound);
  MPI_Comm_set_errhandler(faulty, MPI_ERRORS_RETURN);
  if (rank == from) counts[to] = sent;
  if (rank == to) expected[from] = argument(argc, argv, "expected");
  int class = exchange(faulty, counts, expected, most, rank == to ? from : -1, &wrong);
  printf("rank %d: %s, %s\n", rank,
         class == MPI_SUCCESS        ? "success"
         : class == MPI_ERR_TRUNCATE ? "truncated"
                                     : "error",
         wrong >= 1000000 ? "OVERRUN"
         : wrong          ? "other blocks are wrong too"
                          : "the rest is right");
  fflush(stdout);
  for (int peer = 0; peer < ranks; ++peer) counts[peer] = expected[peer] = others;
  class = exchange(sound, counts, expected, most, -1, &wrong);
  printf("rank %d: afterwards %s\n", rank, class == MPI_SUCCESS && !wrong ? "right" : "WRONG");
  fflush(stdout);
  MPI_Barrier(sound);
  free(counts);
  MPI_Finalize();
  return 0;
}
