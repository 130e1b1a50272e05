/* MPI_Alltoallw ("blocking"), MPI_Ialltoallw ("started") or MPI_Alltoallw_init ("planned") among all ranks but the last, with
 * which no block is exchanged: on rank 0 its type is not committed, which is legal, for nothing looks at it. Prints "right"
 * or "wrong". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 8, CALLS = 8 };

int main(int count, char **words) {
  if (count != 2) return 2;
  int rank, ranks, wrong = 0, counts[MOST], places[MOST], sent[MOST] = {0}, received[MOST];
  MPI_Datatype types[MOST], unready;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_vector(2, 1, 3, MPI_INT, &unready);
  for (int i = 0; i < ranks; ++i) types[i] = MPI_INT, counts[i] = rank + 1 < ranks && i + 1 < ranks, places[i] = 4 * i;
  if (rank == 0) types[ranks - 1] = unready;
  for (int call = 0; call < CALLS; ++call) {
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < ranks; ++i) sent[i] = 1000 * call + 10 * rank + i, received[i] = -1;
    if (!strcmp(words[1], "blocking")) {
      MPI_Alltoallw(sent, counts, places, types, received, counts, places, types, MPI_COMM_WORLD);
    } else if (!strcmp(words[1], "started")) {
      MPI_Ialltoallw(sent, counts, places, types, received, counts, places, types, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Alltoallw_init(sent, counts, places, types, received, counts, places, types, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &request);
      MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request);
    }
    for (int i = 0; i < ranks; ++i) wrong += received[i] != (counts[i] ? 1000 * call + 10 * i + rank : -1);
  }
  MPI_Type_free(&unready);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(all ? "wrong" : "right");
  MPI_Finalize();
  return 0;
}
