/* Rank 0 asks for MPI_THREAD_MULTIPLE, the others for MPI_THREAD_FUNNELED: each form of call comes first in turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int exchange(MPI_Comm comm, int starts) {
  int rank = 0, ranks = 0, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int *const send = malloc(sizeof(int) * (size_t)ranks), *const receive = malloc(sizeof(int) * (size_t)ranks);
  for (int i = 0; i < ranks; ++i) send[i] = 100 * rank + i, receive[i] = -1;
  if (starts) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
  }
  for (int i = 0; i < ranks; ++i) wrong += receive[i] != 100 * i + rank;
  free(send), free(receive);
  return wrong;
}

int main(int argc, char **argv) {
  int provided = 0, rank = 0, wrong = 0;
  /* before MPI_Init only the launcher knows the rank: the first argument names the variable */
  const char *const number = argc > 1 ? getenv(argv[1]) : NULL;
  if (!number) return 2;
  const int level = strcmp(number, "0") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int i = 0; i < 20; ++i) wrong += exchange(MPI_COMM_WORLD, i != 10);
  for (int i = 0; i < 20; ++i) wrong += exchange(copy, i != 0);
  MPI_Comm_free(&copy);
  if (rank == 0) printf("provided: %d\n", provided == MPI_THREAD_MULTIPLE);
  if (wrong) printf("wrong: %d\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
