/* All-to-alls that a recording must cope with.
 *
 *   record [WORD | WORD=N]...   in this order, on MPI_COMM_WORLD unless it says otherwise
 *     derived=N     Alltoall of N doubles with gaps between them
 *     in-place=N    Alltoallv in place, N bytes to everyone
 *     vectors=N     N Alltoallvs, each with sizes of its own: call i sends i + 1 bytes to rank 0, and 0 to others
 *     skew=N        one Alltoallv: rank r sends N * (r + 1) bytes to everyone
 *     alternate=N   N times: an Alltoall of 8 bytes, then an Alltoallv in which rank r sends 16 * (r + 1) bytes to all
 *     late=MS       rank 0 sleeps so long, then an Alltoall of 8 bytes
 *     fork          rank 0 has a child that leaves by exit()
 *     abort=R       rank R calls MPI_Abort with 7
 *     kill=R        rank R kills itself by SIGKILL */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ranks, rank;

/* Everyone sends to rank i what sizes(rank, i, n) says. */
static void vector(int (*bytes)(int source, int destination, int n), int n, int in_place) {
  int *counts = malloc(4 * (size_t)ranks * sizeof *counts), *expected = counts + ranks;
  int *to = expected + ranks, *from = to + ranks, sent = 0, received = 0;
  for (int i = 0; i < ranks; ++i) {
    counts[i] = bytes(rank, i, n), expected[i] = bytes(i, rank, n);
    to[i] = sent, from[i] = received;
    sent += counts[i], received += expected[i];
  }
  char *out = calloc((size_t)sent + 1, 1), *in = calloc((size_t)received + 1, 1);
  if (in_place) MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_BYTE, in, expected, from, MPI_BYTE, MPI_COMM_WORLD);
  else MPI_Alltoallv(out, counts, to, MPI_BYTE, in, expected, from, MPI_BYTE, MPI_COMM_WORLD);
  free(out), free(in), free(counts);
}

static int same(int source, int destination, int n) { return (void)source, (void)destination, n; }
static int to_zero(int source, int destination, int n) { return (void)source, destination == 0 ? n : 0; }
static int skewed(int source, int destination, int n) { return (void)destination, n * (source + 1); }

static void derived(int n) {
  MPI_Datatype pair, spread;
  MPI_Type_vector(1, 1, 2, MPI_DOUBLE, &pair);
  MPI_Type_create_resized(pair, 0, 16, &spread);
  MPI_Type_commit(&spread);
  double *out = calloc(2 * (size_t)(n * ranks), sizeof *out), *in = calloc(2 * (size_t)(n * ranks), sizeof *in);
  MPI_Alltoall(out, n, spread, in, n, spread, MPI_COMM_WORLD);
  free(out), free(in);
  MPI_Type_free(&pair);
  MPI_Type_free(&spread);
}

static void plain(void) {
  long *out = calloc(2 * (size_t)ranks, sizeof *out);
  MPI_Alltoall(out, 1, MPI_LONG, out + ranks, 1, MPI_LONG, MPI_COMM_WORLD);
  free(out);
}

static void late(int ms) {
  const struct timespec while_others_wait = {ms / 1000, ms % 1000 * 1000000L};
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) nanosleep(&while_others_wait, NULL);
  plain();
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 1; k < argc; ++k) {
    const char *equals = strchr(argv[k], '=');
    const int n = equals ? atoi(equals + 1) : 0;
    if (strncmp(argv[k], "derived=", 8) == 0) derived(n);
    else if (strncmp(argv[k], "in-place=", 9) == 0) vector(same, n, 1);
    else if (strncmp(argv[k], "vectors=", 8) == 0)
      for (int i = 0; i < n; ++i) vector(to_zero, i + 1, 0);
    else if (strncmp(argv[k], "skew=", 5) == 0) vector(skewed, n, 0);
    else if (strncmp(argv[k], "alternate=", 10) == 0)
      for (int i = 0; i < n; ++i) plain(), vector(skewed, 16, 0);
    else if (strncmp(argv[k], "late=", 5) == 0) late(n);
    else if (strcmp(argv[k], "fork") == 0) {
      fflush(NULL);
      const pid_t child = rank == 0 ? fork() : 1;
      if (child == 0) exit(0);
      if (rank == 0) waitpid(child, NULL, 0);
    } else if (strncmp(argv[k], "abort=", 6) == 0) {
      MPI_Barrier(MPI_COMM_WORLD); /* all are done with what came before */
      if (rank == n) MPI_Abort(MPI_COMM_WORLD, 7);
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (strncmp(argv[k], "kill=", 5) == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == n) kill(getpid(), SIGKILL);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
