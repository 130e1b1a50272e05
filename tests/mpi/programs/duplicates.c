/* Exchanges on duplicates of a communicator, as their number of calls, sizes and lives differ.
 *
 *   duplicates short       a duplicate for each exchange, a thousand times; few more communicators are set up
 *   duplicates mixed       duplicates of MPI_COMM_WORLD and of a half of it, alive together, used in turn, freed in another
 *                          order than they were made, and the duplicated one freed first; blocking, non-blocking and
 *                          persistent exchanges on the same ones; grids of the ranks, of some, and in another order,
 *                          to which Open MPI gives the attributes of a communicator, too
 *   duplicates phases      rank 0 alone measures the phases of calls on a duplicate, which waits for nobody */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 16, MOST = 20000 };

static unsigned char value(int from, int to, int call, int i) {
  return (unsigned char)(from * 31 + to * 7 + call * 3 + i);
}

static unsigned char send[16 * MOST], receive[16 * MOST + GUARD];

static void fill(MPI_Comm comm, int bytes, int call) {
  int ranks = 0, rank = 0;
  MPI_Comm_size(comm, &ranks), MPI_Comm_rank(comm, &rank);
  for (int to = 0; to < ranks; ++to)
    for (int i = 0; i < bytes; ++i) send[to * bytes + i] = value(rank, to, call, i);
  memset(receive, 0xa5, sizeof receive);
}

static void check(MPI_Comm comm, int bytes, int call) {
  int ranks = 0, rank = 0, wrong = 0;
  MPI_Comm_size(comm, &ranks), MPI_Comm_rank(comm, &rank);
  for (int from = 0; from < ranks; ++from)
    for (int i = 0; i < bytes; ++i) wrong += receive[from * bytes + i] != value(from, rank, call, i);
  for (int i = 0; i < GUARD; ++i) wrong += receive[ranks * bytes + i] != 0xa5;
  if (wrong) fprintf(stderr, "duplicates: %d wrong bytes in call %d of %d B\n", wrong, call, bytes), MPI_Abort(comm, 1);
}

static void exchange(MPI_Comm comm, int bytes, int call) {
  fill(comm, bytes, call);
  MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm);
  check(comm, bytes, call);
}

static void exchange_v(MPI_Comm comm, int bytes, int call) {
  int ranks = 0, counts[16], places[16];
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = bytes, places[i] = i * bytes;
  fill(comm, bytes, call);
  MPI_Alltoallv(send, counts, places, MPI_BYTE, receive, counts, places, MPI_BYTE, comm);
  check(comm, bytes, call);
}

static void shortly(void) {
  for (int call = 0; call < 1000; ++call) {
    MPI_Comm once;
    MPI_Comm_dup(MPI_COMM_WORLD, &once);
    (call % 3 ? exchange : exchange_v)(once, call % 10 == 9 ? MOST : call % 50, call);
    MPI_Comm_free(&once);
  }
}

static void mixed(void) {
  MPI_Comm half, all[8], request_comm;
  int rank = 0, call = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  exchange(half, 8, ++call);
  for (int i = 0; i < 8; ++i) MPI_Comm_dup(i < 4 ? MPI_COMM_WORLD : i == 7 ? all[4] : half, &all[i]);
  MPI_Comm_free(&half);
  for (int turn = 0; turn < 200; ++turn) {
    MPI_Comm comm = all[(turn * 5) % 8];
    exchange(comm, turn % 7 == 0 ? MOST : turn, ++call);
    exchange_v(all[(turn * 3) % 8], turn, ++call);
    if (turn % 20 == 0) exchange(MPI_COMM_WORLD, 64, ++call);
    if (turn == 50 || turn == 51) { /* on one that others were exchanged on before */
      MPI_Request request;
      fill(all[2], 100, ++call);
      MPI_Ialltoall(send, 100, MPI_BYTE, receive, 100, MPI_BYTE, all[2], &request);
      static unsigned char other[16 * 8], into[16 * 8];
      MPI_Alltoall(other, 8, MPI_BYTE, into, 8, MPI_BYTE, all[1]);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check(all[2], 100, call);
    }
#if MPI_VERSION >= 4
    if (turn == 80) {
      MPI_Request request;
      MPI_Alltoall_init(send, 50, MPI_BYTE, receive, 50, MPI_BYTE, all[3], MPI_INFO_NULL, &request);
      fill(all[3], 50, ++call);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check(all[3], 50, call);
      MPI_Request_free(&request);
    }
#endif
    if (turn == 120) MPI_Comm_free(&all[0]), MPI_Comm_dup(all[1], &all[0]);
  }
  MPI_Comm_dup(all[6], &request_comm);
  for (int i = 7; i >= 0; --i) MPI_Comm_free(&all[i]);
  exchange(request_comm, 40, ++call);
  MPI_Comm_free(&request_comm);
}

static void grids(void) {
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks), MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm duplicate, backwards;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  exchange(duplicate, 30, 999);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  for (int size = 1; size <= ranks; ++size) {
    MPI_Comm grid = MPI_COMM_NULL, again = MPI_COMM_NULL;
    const int periodic = 1;
    MPI_Cart_create(size % 2 ? duplicate : backwards, 1, &size, &periodic, 0, &grid);
    if (grid != MPI_COMM_NULL) {
      MPI_Comm_dup(grid, &again);
      for (int i = 0; i < 3; ++i) exchange(i == 1 ? again : grid, 50, i);
      MPI_Comm_free(&again), MPI_Comm_free(&grid);
    }
    exchange(duplicate, 20, size);
  }
  MPI_Comm_free(&duplicate), MPI_Comm_free(&backwards);
}

static void phases(void) {
  int (*const begin)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_DEFAULT, "swapmeet_phases_begin");
  int (*const end)(MPI_Comm, double *) = (int (*)(MPI_Comm, double *))dlsym(RTLD_DEFAULT, "swapmeet_phases_end");
  double seconds[16] = {0};
  int rank = 0;
  MPI_Comm duplicate;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  exchange(duplicate, 16, 1);
  if (rank == 0 && begin(duplicate) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int call = 0; call < 3; ++call) exchange(duplicate, 16, call);
  if (rank == 0 && end(duplicate, seconds) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  exchange(duplicate, 16, 2);
  MPI_Comm_free(&duplicate);
}

int main(int argc, char **argv) {
#ifdef THREADS
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#else
  MPI_Init(&argc, &argv);
#endif
  if (argc > 1 && strcmp(argv[1], "short") == 0) shortly();
  else if (argc > 1 && strcmp(argv[1], "phases") == 0) phases();
  else mixed(), grids();
  MPI_Comm left; /* alive when MPI ends */
  MPI_Comm_dup(MPI_COMM_WORLD, &left);
  exchange(left, 12, 1);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("duplicates: done\n");
  MPI_Finalize();
  return 0;
}
