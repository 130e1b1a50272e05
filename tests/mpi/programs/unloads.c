/* unloads before|after LIBRARY...: opens libraries before or after MPI_Init, exchanges by the functions that the loader finds
 * from the first one on, and closes them again. What MPI calls of them afterwards, in its progress, when communicators
 * and types are freed, and in MPI_Finalize, must still be there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64, LIBRARIES = 4, INTS = 3 };

static void *libraries[LIBRARIES];
static int opened;

static void open_all(int argc, char **argv) {
  for (int i = 2; i < argc && opened < LIBRARIES; ++i) {
    libraries[opened] = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
    if (!libraries[opened++]) fprintf(stderr, "unloads: %s\n", dlerror()), exit(2);
  }
}

/* Returns how many are gone. */
static int close_all(char **argv) {
  int gone = 0;
  for (int i = 0; i < opened; ++i) dlclose(libraries[i]);
  for (int i = 0; i < opened; ++i) gone += !dlopen(argv[2 + i], RTLD_NOW | RTLD_NOLOAD);
  return gone;
}

static void *found(const char *name) {
  void *const ours = dlsym(libraries[0], name);
  return ours ? ours : dlsym(RTLD_DEFAULT, name);
}

#define BY_HANDLE(name) ((__typeof__(&name))found(#name))

static int sent[MOST_RANKS * INTS], received[MOST_RANKS * INTS];

static void prepare(int rank, int ranks) {
  for (int i = 0; i < ranks * INTS; ++i) sent[i] = 1000 * rank + i, received[i] = -1;
}

static int wrong(int rank, int ranks) {
  int number = 0;
  for (int i = 0; i < ranks * INTS; ++i) number += received[i] != 1000 * (i / INTS) + rank * INTS + i % INTS;
  return number;
}

static int exchange(MPI_Comm comm, MPI_Datatype type) {
  int rank, ranks, number = 0, counts[MOST_RANKS], places[MOST_RANKS];
  MPI_Request request;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = i;
  for (int turn = 0; turn < 3; ++turn) {
    prepare(rank, ranks);
    BY_HANDLE(MPI_Alltoall)(sent, 1, type, received, INTS, MPI_INT, comm);
    number += wrong(rank, ranks);
    prepare(rank, ranks);
    BY_HANDLE(MPI_Alltoallv)(sent, counts, places, type, received, counts, places, type, comm);
    number += wrong(rank, ranks);
    prepare(rank, ranks);
    BY_HANDLE(MPI_Ialltoall)(sent, 1, type, received, 1, type, comm, &request);
    BY_HANDLE(MPI_Wait)(&request, MPI_STATUS_IGNORE);
    number += wrong(rank, ranks);
  }
  return number;
}

/* One that is never started, and stays. */
static void plan(MPI_Comm comm, MPI_Request *request) {
#if MPI_VERSION >= 4 || defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
  BY_HANDLE(MPI_Alltoall_init)(sent, INTS, MPI_INT, received, INTS, MPI_INT, comm, MPI_INFO_NULL, request);
#else
  (void)comm, (void)request;
#endif
}

int main(int argc, char **argv) {
  int rank, number = 0;
  MPI_Comm copy, later;
  MPI_Datatype type;
  MPI_Request request = MPI_REQUEST_NULL;
  if (argc < 3) return fprintf(stderr, "usage: unloads before|after LIBRARY...\n"), 2;
  const int before = strcmp(argv[1], "before") == 0;
  if (before) open_all(argc, argv);
  BY_HANDLE(MPI_Init)(&argc, &argv);
  if (!before) open_all(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Type_contiguous(INTS, MPI_INT, &type);
  MPI_Type_commit(&type);
  number += exchange(MPI_COMM_WORLD, type) + exchange(copy, type) + exchange(MPI_COMM_SELF, type);
  plan(copy, &request);
  number += close_all(argv);
  MPI_Comm_dup(copy, &later);
  MPI_Barrier(later);
  MPI_Comm_free(&later);
  MPI_Type_free(&type);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  MPI_Comm_free(&copy);
  if (rank == 0) printf("wrong or gone: %d\n", number), fflush(stdout);
  MPI_Finalize();
  return number != 0;
}
