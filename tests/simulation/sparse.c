/* Sparse exchanges on as many ranks as are simulated: each sends to a few others, by a rule that its receivers know.
 * Calls the library that it is loaded with. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "../../include/swapmeet/swapmeet.h"

enum { MESSAGES = 3, CALLS = 3 };

/* To whom message i of a rank goes, and what it holds. */
static int destination(int rank, int i, int call, int ranks) { return (rank * 7 + i * i * 31 + call) % ranks; }
static int content(int rank, int i, int call) { return 1000 * rank + 10 * i + call; }

int main(int argc, char **argv) {
  int me, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int (*exchange)(const void *, int, const int *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, MPI_Comm,
                  swapmeet_sparse_messages **);
  int (*free_messages)(swapmeet_sparse_messages **);
  *(void **)&exchange = dlsym(RTLD_DEFAULT, "swapmeet_sparse_alltoallv");
  *(void **)&free_messages = dlsym(RTLD_DEFAULT, "swapmeet_sparse_free");
  if (!exchange || !free_messages) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int call = 0; call < CALLS; ++call) {
    int out[MESSAGES], to[MESSAGES], next = 0;
    MPI_Count counts[MESSAGES];
    swapmeet_sparse_messages *got = NULL;
    for (int i = 0; i < MESSAGES; ++i)
      to[i] = destination(me, i, call, ranks), out[i] = content(me, i, call), counts[i] = 1;
    if (exchange(out, MESSAGES, to, counts, NULL, MPI_INT, MPI_COMM_WORLD, &got)) MPI_Abort(MPI_COMM_WORLD, 3);
    for (int source = 0; source < ranks; ++source)
      for (int i = 0; i < MESSAGES; ++i) {
        if (destination(source, i, call, ranks) != me) continue;
        if (next < got->count && got->sources[next] == source && got->sizes[next] == sizeof(int))
          wrong += *(const int *)got->data[next] != content(source, i, call);
        else ++wrong;
        ++next;
      }
    wrong += next != got->count;
    free_messages(&got);
  }
  if (wrong) MPI_Abort(MPI_COMM_WORLD, 4);
  MPI_Finalize();
  return 0;
}
