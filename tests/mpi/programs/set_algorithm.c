/* set_algorithm WORD...: chooses algorithms by swapmeet_set_algorithm() and checks every answer.
 *
 *   set=SPEC        on the current communicator; the word `null` stands for NULL
 *   odd=SPEC        rank 1 gives SPEC, the others "pairwise"
 *   call            an MPI_Alltoall and an MPI_Alltoallv
 *   world self inter dup null-comm    the current communicator from now on
 *
 * Rank 0 prints what each set returns: success, argument, communicator or another, and whether all ranks got the
 * same. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int SetAlgorithm(MPI_Comm comm, const char *spec);

static void exchange(MPI_Comm comm) {
  int rank, peers, inter;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_test_inter(comm, &inter);
  if (inter) MPI_Comm_remote_size(comm, &peers);
  else MPI_Comm_size(comm, &peers);
  int *memory = malloc(5 * (size_t)peers * sizeof *memory), wrong = 0;
  int *send = memory, *receive = memory + peers, *ones = memory + 2 * peers, *places = memory + 3 * peers;
  int *expected = memory + 4 * peers;
  for (int peer = 0; peer < peers; ++peer) {
    send[peer] = 1000 * rank + peer;
    ones[peer] = expected[peer] = 1, places[peer] = peer;
  }
  for (int vector = 0; vector < 2; ++vector) {
    for (int peer = 0; peer < peers; ++peer) receive[peer] = -1;
    if (vector) MPI_Alltoallv(send, ones, places, MPI_INT, receive, expected, places, MPI_INT, comm);
    else MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
    for (int peer = 0; peer < peers; ++peer) wrong += receive[peer] != 1000 * peer + rank;
  }
  if (wrong) {
    fprintf(stderr, "set_algorithm: wrong data\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  free(memory);
}

static MPI_Comm named(const char *name, int rank) {
  MPI_Comm comm = MPI_COMM_WORLD, part;
  if (strcmp(name, "self") == 0) return MPI_COMM_SELF;
  if (strcmp(name, "null-comm") == 0) return MPI_COMM_NULL;
  if (strcmp(name, "dup") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (strcmp(name, "inter") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &comm);
  }
  return comm;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  SetAlgorithm *set = (SetAlgorithm *)dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  if (!set) {
    fprintf(stderr, "set_algorithm: the library is not loaded\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm comm = MPI_COMM_WORLD;
  for (int k = 1; k < argc; ++k) {
    const int odd = strncmp(argv[k], "odd=", 4) == 0;
    if (odd || strncmp(argv[k], "set=", 4) == 0) {
      const char *spec = odd && rank != 1 ? "pairwise" : argv[k] + 4;
      int code = set(comm, strcmp(spec, "null") == 0 ? NULL : spec), least, most;
      MPI_Allreduce(&code, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
      MPI_Allreduce(&code, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      if (rank == 0)
        printf("%s: %s%s\n", argv[k],
               code == MPI_SUCCESS    ? "success"
               : code == MPI_ERR_ARG  ? "argument"
               : code == MPI_ERR_COMM ? "communicator"
                                      : "another",
               least == most ? "" : ", not on all ranks");
    } else if (strcmp(argv[k], "call") == 0) {
      exchange(comm);
    } else {
      comm = named(argv[k], rank);
    }
  }
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
