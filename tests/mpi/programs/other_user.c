/* A rank that becomes another user: other_user RANK WHEN BYTES... As root. That rank gives its rights up after MPI_Init
 * ("first"), or after some all-to-alls ("later"): from then on no other rank may read its memory, and it that of no
 * other. Exchanges blocks of each size on MPI_COMM_WORLD and on a duplicate. Prints "other_user RANK: right". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <grp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static int rank, ranks, wrong;

static unsigned char value(int from, int to, int index) { return (unsigned char)(31 * from + 7 * to + index + 1); }

enum { BLOCKING, NON_BLOCKING, SHARED, HOWS };

/* SHARED: the blocks lie in memory of swapmeet_memory_allocate(), if that is there. */
static unsigned char *allocate(MPI_Comm comm, int how, size_t bytes) {
  int (*shared)(MPI_Comm, MPI_Aint, void *);
  unsigned char *memory = NULL;
  *(void **)&shared = dlsym(RTLD_DEFAULT, "swapmeet_memory_allocate");
  if (how == SHARED && shared) shared(comm, (MPI_Aint)bytes, &memory);
  return memory ? memory : malloc(bytes);
}

static void release(int how, unsigned char *memory) {
  int (*shared)(void *);
  *(void **)&shared = dlsym(RTLD_DEFAULT, "swapmeet_memory_free");
  if (how == SHARED && shared) shared(memory);
  else free(memory);
}

static void exchange(MPI_Comm comm, int bytes, int how) {
  MPI_Request request;
  unsigned char *const send = allocate(comm, how, (size_t)ranks * (size_t)bytes);
  unsigned char *const receive = allocate(comm, how, (size_t)ranks * (size_t)bytes);
  memset(receive, 0, (size_t)ranks * (size_t)bytes);
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < bytes; ++k) send[peer * bytes + k] = value(rank, peer, k);
  if (how == NON_BLOCKING) {
    MPI_Ialltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm);
  }
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < bytes; ++k) wrong += receive[peer * bytes + k] != value(peer, rank, k);
  release(how, send), release(how, receive);
}

static void exchange_all(MPI_Comm comm, int count, char **words) {
  for (int k = 3; k < count; ++k)
    for (int how = 0; how < HOWS; ++how) exchange(comm, atoi(words[k]), how);
}

int main(int count, char **words) {
  MPI_Comm other;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!strcmp(words[2], "later")) exchange_all(MPI_COMM_WORLD, count, words);
  if (rank == atoi(words[1]) &&
      (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
    MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  exchange_all(MPI_COMM_WORLD, count, words);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  exchange_all(other, count, words);
  printf("other_user %d: %s\n", rank, wrong ? "wrong" : "right");
  fflush(stdout);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
