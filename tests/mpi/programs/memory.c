/* Exchanges between buffers in memory that the ranks of a node share (swapmeet_memory_allocate), or partly: every byte
 * is checked. Arguments, in any order: forbid (process_vm_readv is refused from now on), call (exchanges of many sizes,
 * shared to shared, shared to own and the other way round), odd (only ranks of even number allocate more than nothing),
 * free-some (odd ranks free theirs, then exchange), halves (each block lies half in such memory, half elsewhere), errors, absurd (sizes that no machine has, whose sum would overflow). Prints
 * "memory: right". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forbid.h"

enum { MOST = 1 << 20, GUARD = 64 };
#define PROGRAM "memory"
#include "checked_exchange.h"

static int rank, ranks;
static int (*allocate)(MPI_Comm, MPI_Aint, void *);
static int (*release)(void *);

static unsigned char *shared_send, *shared_receive, *own_send, *own_receive;

static void call(MPI_Comm comm) {
  static const int sizes[] = {1, 100, 4096, 5000, 65536, 300001};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    if ((long)sizes[i] * ranks + GUARD > MOST) continue;
    exchange(comm, shared_send, shared_receive, sizes[i]);
    exchange(comm, shared_send, own_receive, sizes[i]);
    exchange(comm, own_send, shared_receive, sizes[i]);
    exchange(comm, rank % 2 ? own_send : shared_send, own_receive, sizes[i]);
  }
}

/* Blocks of two pieces far from each other: the first in memory that the ranks share, the second in memory of their own. */
static void halves(void) {
  enum { HALF = 20000 };
  int *const ones = malloc(sizeof(int) * (size_t)ranks), *const bytes = malloc(sizeof(int) * (size_t)ranks);
  int *const zeroes = calloc((size_t)ranks, sizeof(int)), *const offsets = malloc(sizeof(int) * (size_t)ranks);
  MPI_Datatype *const blocks = malloc(sizeof *blocks * (size_t)ranks), *const plain =
                                                                           malloc(sizeof *plain * (size_t)ranks);
  for (int i = 0; i < ranks; ++i) {
    unsigned char *const first = shared_send + i * HALF, *const second = own_send + i * HALF;
    MPI_Aint places[2];
    memset(first, 1 + rank, HALF), memset(second, 101 + rank, HALF);
    MPI_Get_address(first, &places[0]), MPI_Get_address(second, &places[1]);
    MPI_Type_create_hindexed(2, (int[]){HALF, HALF}, places, MPI_BYTE, &blocks[i]);
    MPI_Type_commit(&blocks[i]);
    ones[i] = 1, bytes[i] = 2 * HALF, offsets[i] = i * 2 * HALF, plain[i] = MPI_BYTE;
  }
  for (int call = 0; call < 3; ++call) {
    memset(own_receive, 0, (size_t)ranks * 2 * HALF);
    MPI_Alltoallw(MPI_BOTTOM, ones, zeroes, blocks, own_receive, bytes, offsets, plain, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i)
      for (int b = 0; b < 2 * HALF; ++b)
        must(own_receive[i * 2 * HALF + b] == (b < HALF ? 1 : 101) + i, "a block that is half in shared memory");
  }
  for (int i = 0; i < ranks; ++i) MPI_Type_free(&blocks[i]);
  free(ones), free(bytes), free(zeroes), free(offsets), free(blocks), free(plain);
}

static void errors(void) {
  void *memory = &rank;
  must(allocate(MPI_COMM_NULL, 8, &memory) != MPI_SUCCESS && memory == &rank, "a null communicator");
  must(allocate(MPI_COMM_WORLD, -1, &memory) == MPI_ERR_ARG && memory == &rank, "bytes below 0");
  must(allocate(MPI_COMM_WORLD, 8, rank == 0 ? NULL : &memory) == (rank == 0 ? MPI_ERR_ARG : MPI_SUCCESS),
       "no address");
  if (rank > 0) must(release(memory) == MPI_SUCCESS, "memory that the others have");
  must(release(NULL) == MPI_SUCCESS, "nothing to free");
  must(release(&rank) == MPI_ERR_ARG, "memory of somebody else");
  must(allocate(MPI_COMM_SELF, 100, &memory) == MPI_SUCCESS, "a rank alone");
  memset(memory, 1, 100);
  must(release(memory) == MPI_SUCCESS && release(memory) == MPI_ERR_ARG, "free twice");
  for (int i = 0; i < 200; ++i) {
    must(allocate(MPI_COMM_WORLD, 1 + i * 100, &memory) == MPI_SUCCESS, "again and again");
    memset(memory, i, (size_t)(1 + i * 100));
    must(release(memory) == MPI_SUCCESS, "and freed");
  }
}

/* Two ranks want more than any machine has, and one some bytes, which it gets. */
static void absurd(MPI_Aint most) {
  const MPI_Aint wanted[] = {most, most, 4096};
  const int modest = rank % 3 == 2;
  void *memory = NULL;
  const int error = allocate(MPI_COMM_WORLD, wanted[rank % 3], &memory);
  must(error == (modest ? MPI_SUCCESS : MPI_ERR_NO_MEM) && !memory == !modest,
       "an error of the ranks that want too much");
  if (modest) memset(memory, 1, 4096), must(release(memory) == MPI_SUCCESS, "what there is");
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  *(void **)&allocate = dlsym(RTLD_DEFAULT, "swapmeet_memory_allocate");
  *(void **)&release = dlsym(RTLD_DEFAULT, "swapmeet_memory_free");
  must(allocate && release, "the library is not preloaded");
  own_send = malloc(MOST), own_receive = malloc(MOST);
  MPI_Comm backwards, pair;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "forbid")) must(forbid_process_vm_readv(), "seccomp");
    if (!strcmp(argv[i], "errors")) errors();
    if (!strcmp(argv[i], "absurd")) absurd(PTRDIFF_MAX), absurd((MPI_Aint)1 << 48);
    const MPI_Aint bytes = !strcmp(argv[i], "odd") && rank % 2 ? 0 : MOST;
    const int exchanges = !strcmp(argv[i], "call") || !strcmp(argv[i], "halves");
    if (!shared_send && (exchanges || !strcmp(argv[i], "odd"))) {
      must(allocate(MPI_COMM_WORLD, bytes, &shared_send) == MPI_SUCCESS, "allocate");
      must(allocate(backwards, bytes, &shared_receive) == MPI_SUCCESS, "allocate backwards");
      must((size_t)shared_send % 4096 == 0 && (bytes == 0 || shared_send[bytes - 1] == 0), "zeroes on whole pages");
      if (bytes == 0) shared_send = own_send, shared_receive = own_receive;
    }
    if (!strcmp(argv[i], "free-some") && rank % 2) {
      must(release(shared_send) == MPI_SUCCESS && release(shared_receive) == MPI_SUCCESS, "free");
      shared_send = own_send, shared_receive = own_receive;
    }
    if (!strcmp(argv[i], "halves")) halves();
    if (strcmp(argv[i], "call") && strcmp(argv[i], "free-some")) continue;
    call(MPI_COMM_WORLD), call(backwards), call(pair);
  }
  MPI_Comm_free(&backwards);
  MPI_Comm_free(&pair);
  if (rank == 0) puts("memory: right");
  MPI_Finalize();
  return 0;
}
