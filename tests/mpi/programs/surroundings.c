/* surroundings WHAT VALUE CALLS: once MPI has begun, files may have no more than VALUE bytes ("file-size"), numbers are written
 * as in the locale VALUE ("locale"), or, after the first exchange, the process VALUE ends ("reader"). Then come exchanges, and
 * rank 0 prints "right". */
#include <locale.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int count, char **words) {
  int rank = 0, ranks = 0, send[64], receive[64];
  if (count != 4) return 2;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!strcmp(words[1], "locale") && !setlocale(LC_ALL, words[2])) return 3;
  const struct rlimit most = {(rlim_t)atol(words[2]), (rlim_t)atol(words[2])};
  if (!strcmp(words[1], "file-size") && setrlimit(RLIMIT_FSIZE, &most)) return 4;
  for (int call = 0; call < atoi(words[3]); ++call) {
    for (int i = 0; i < ranks; ++i) send[i] = 1000 * call + 10 * rank + i, receive[i] = -1;
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i)
      if (receive[i] != 1000 * call + 10 * i + rank) MPI_Abort(MPI_COMM_WORLD, 5);
    if (call == 0 && !strcmp(words[1], "reader")) kill(atoi(words[2]), SIGKILL), sleep(1);
  }
  if (rank == 0) puts("right");
  return MPI_Finalize();
}
