/* Exchanges of blocks that the other ranks of the node can map, each in turn and mixed with others: every byte is checked.
 * Arguments, in any order: forbid (process_vm_readv is refused from now on), alloc-mem (MPI_Alloc_mem is asked for memory)
 * or malloc, call (exchanges), fork (a child of each rank writes into its copies, then exchange), maps (each
 * rank has mapped the memory of all others) or no-maps, tried (exchanges from one kind of memory for a while, then from
 * another), tried-by-one (the same, where rank 0 has another type), errors, foreign (MPI_Free_mem of what malloc gave).
 * Prints "heap: right". */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forbid.h"

enum { MOST = 2 << 20, GUARD = 64, SMALL = 100 };
#define PROGRAM "heap"
#include "checked_exchange.h"

static int rank, ranks, by_malloc;
static unsigned char *send, *receive, own_send[MOST], own_receive[MOST];

static void *allocate(MPI_Aint bytes) {
  void *memory = NULL;
  if (by_malloc) return malloc((size_t)bytes);
  must(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory) == MPI_SUCCESS, "MPI_Alloc_mem");
  return memory;
}
static void release(void *memory) {
  if (by_malloc) free(memory);
  else must(MPI_Free_mem(memory) == MPI_SUCCESS, "MPI_Free_mem");
}

/* Every second byte of what is sent: a derived type. */
static void exchange_strided(MPI_Comm comm, int count) {
  MPI_Datatype second;
  MPI_Type_vector(count, 1, 2, MPI_BYTE, &second);
  MPI_Type_create_resized(second, 0, 2 * count, &second);
  MPI_Type_commit(&second);
  for (int d = 0; d < ranks; ++d)
    for (int k = 0; k < 2 * count; ++k) send[(size_t)d * 2 * count + k] = value(rank, d, count, k);
  memset(receive, 0xa5, (size_t)ranks * count + GUARD);
  must(MPI_Alltoall(send, 1, second, receive, count, MPI_BYTE, comm) == MPI_SUCCESS, "MPI_Alltoall of a type");
  memset(send, 0, (size_t)ranks * 2 * count);
  for (int s = 0; s < ranks; ++s)
    for (int k = 0; k < count; ++k)
      must(receive[(size_t)s * count + k] == value(s, rank, count, 2 * k), "a byte of a type");
  must(receive[(size_t)ranks * count] == 0xa5, "beyond the last block");
  MPI_Type_free(&second);
}

static void call(MPI_Comm comm) {
  static const int sizes[] = {1, 100, 4096, 5000, 16384, 65536, 300001};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    if ((long)sizes[i] * ranks + GUARD > MOST) continue;
    exchange(comm, send, receive, sizes[i]);
    exchange(comm, send, own_receive, sizes[i]);
    exchange(comm, own_send, receive, sizes[i]);
    exchange(comm, rank % 2 ? own_send : send, own_receive, sizes[i]);
    exchange(comm, send + 24, receive + 8, sizes[i]);
  }
}

static void call_all(void) {
  MPI_Comm backwards;
  call(MPI_COMM_WORLD);
  exchange_strided(MPI_COMM_WORLD, 40000);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  call(backwards);
  MPI_Comm_free(&backwards);
  for (int i = 0; i < 20; ++i) { /* memory that is given back and comes again */
    release(send), release(receive);
    receive = allocate(MOST + i * 4096), send = allocate(MOST + i * 8192);
    exchange(MPI_COMM_WORLD, send, receive, 20000 + i);
  }
}

static void have_children(void) {
  memset(send, 1, MOST);
  memset(receive, 2, MOST);
  const pid_t child = fork();
  if (child == 0) {
    for (int k = 0; k < MOST; ++k)
      if (send[k] != 1 || receive[k] != 2) _exit(1);
    memset(send, 3, MOST);
    _exit(0);
  }
  int status = -1;
  must(waitpid(child, &status, 0) == child && status == 0, "the child");
  for (int k = 0; k < MOST; ++k) must(send[k] == 1, "the child has written into its parent's memory");
}

/* How many heaps of other processes this one has mapped. */
static int mapped_heaps(void) {
  char line[512], own[64];
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  snprintf(own, sizeof own, "/memfd:swapmeet-%d-", getpid());
  while (maps && fgets(line, sizeof line, maps))
    count += strstr(line, "r--s") && strstr(line, "/memfd:swapmeet-") && !strstr(line, own);
  fclose(maps);
  return count;
}

static void errors(void) {
  void *memory = &rank, *all[100];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  must(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory) != MPI_SUCCESS, "bytes below 0");
  must(MPI_Alloc_mem(0, MPI_INFO_NULL, &memory) == MPI_SUCCESS, "nothing");
  must(MPI_Free_mem(memory) == MPI_SUCCESS, "nothing is freed");
  for (int i = 0; i < 100; ++i) {
    const MPI_Aint bytes = i % 2 ? SMALL : MOST / 16 + i;
    MPI_Info info = MPI_INFO_NULL;
    if (i % 5 == 0) MPI_Info_create(&info), MPI_Info_set(info, "mpi_minimum_memory_alignment", "64");
    must(MPI_Alloc_mem(bytes, info, &all[i]) == MPI_SUCCESS, "MPI_Alloc_mem");
    memset(all[i], i, (size_t)bytes);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  }
  for (int i = 0; i < 100; ++i) must(((unsigned char *)all[i])[SMALL - 1] == i, "blocks overlap");
  for (int i = 0; i < 100; ++i) must(MPI_Free_mem(all[(i * 37) % 100]) == MPI_SUCCESS, "MPI_Free_mem of any");
}

static void be_tried(void) {
  enum { EACH = 60, BYTES = 65536 };
  for (int i = 0; i < EACH; ++i) exchange(MPI_COMM_WORLD, send, receive, BYTES);
  for (int i = 0; i < EACH; ++i) exchange(MPI_COMM_WORLD, own_send, own_receive, BYTES);
  for (int i = 0; i < EACH; ++i) exchange(MPI_COMM_WORLD, rank % 2 ? own_send : send, receive, BYTES);
  for (int i = 0; i < EACH; ++i) exchange(MPI_COMM_WORLD, i % 3 ? own_send : send, receive, BYTES);
  for (int i = 0; i < EACH; ++i) exchange(MPI_COMM_WORLD, send, own_receive, BYTES);
}

/* Rank 0 has another type of the same bytes, so that it decides on each call anew. */
static void be_tried_by_one(void) {
  enum { EACH = 60, BYTES = 65536 };
  MPI_Datatype block;
  MPI_Type_contiguous(BYTES, MPI_BYTE, &block);
  MPI_Type_commit(&block);
  for (int i = 0; i < 4 * EACH; ++i) {
    unsigned char *const from = i / EACH % 2 ? own_send : send;
    for (int d = 0; d < ranks; ++d)
      for (int k = 0; k < BYTES; k += 64) from[(size_t)d * BYTES + k] = value(rank, d, i, k);
    MPI_Alltoall(from, rank ? BYTES : 1, rank ? MPI_BYTE : block, receive, BYTES, MPI_BYTE, MPI_COMM_WORLD);
    for (int s = 0; s < ranks; ++s)
      for (int k = 0; k < BYTES; k += 64) must(receive[(size_t)s * BYTES + k] == value(s, rank, i, k), "a byte");
  }
  MPI_Type_free(&block);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "forbid")) must(forbid_process_vm_readv(), "seccomp");
    if (!strcmp(argv[i], "malloc")) by_malloc = 1;
    if (!strcmp(argv[i], "malloc") || !strcmp(argv[i], "alloc-mem")) send = allocate(MOST), receive = allocate(MOST);
    if (!strcmp(argv[i], "call")) call_all();
    if (!strcmp(argv[i], "fork")) have_children(), call_all();
    if (!strcmp(argv[i], "tried")) be_tried();
    if (!strcmp(argv[i], "tried-by-one")) be_tried_by_one();
    if (!strcmp(argv[i], "errors")) errors();
    if (!strcmp(argv[i], "foreign")) MPI_Free_mem(malloc(MOST));
    if (!strcmp(argv[i], "maps")) must(mapped_heaps() >= ranks - 1, "a heap is not mapped");
    if (!strcmp(argv[i], "no-maps")) must(mapped_heaps() == 0, "a heap is mapped");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("heap: right");
  MPI_Finalize();
  return 0;
}
