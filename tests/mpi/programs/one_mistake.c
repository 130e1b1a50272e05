/* Rank 0 alone starts an all-to-all with a negative count ("equal": MPI_Ialltoall, "unequal": MPI_Ialltoallv) on a
 * duplicate on which blocking ones were served; then all go on. It prints "right" if it got MPI_ERR_COUNT or MPI_ERR_ARG. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 8, CALLS = 8 };

static int exchange(MPI_Comm comm, int rank, int ranks, int call) {
  int sent[MOST] = {0}, received[MOST], wrong = 0;
  for (int peer = 0; peer < ranks; ++peer) sent[peer] = 1000 * call + 10 * rank + peer, received[peer] = -1;
  MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm);
  for (int peer = 0; peer < ranks; ++peer) wrong += received[peer] != 1000 * call + 10 * peer + rank;
  return wrong;
}

int main(int count, char **words) {
  if (count != 2) return 2;
  const int equal = !strcmp(words[1], "equal");
  int rank, ranks, wrong = 0;
  MPI_Comm comm;
  MPI_Init(&count, &words);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  for (int call = 0; call < CALLS; ++call) wrong += exchange(comm, rank, ranks, call);
  if (rank == 0) {
    int sent[MOST] = {0}, received[MOST], counts[MOST] = {1, -1}, places[MOST] = {0}, its_class = MPI_SUCCESS;
    MPI_Request request;
    const int error =
        equal ? MPI_Ialltoall(sent, -1, MPI_INT, received, -1, MPI_INT, comm, &request)
              : MPI_Ialltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, comm, &request);
    if (error) MPI_Error_class(error, &its_class);
    wrong += its_class != MPI_ERR_COUNT && its_class != MPI_ERR_ARG;
  }
  for (int call = 0; call < CALLS; ++call) wrong += exchange(comm, rank, ranks, call);
  if (rank == 0) puts(wrong ? "wrong" : "right");
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
