/* changes HOW CALLS: a program whose calls are not always the same, with every byte checked. HOW:
 *   sizes   blocks of another size in each call
 *   phases  CALLS of 8 B, then of 3000 B, then of 8 B again
 *   slow    CALLS of 64 B, for which the last rank is late
 * Prints "changes: right". */
#define PROGRAM "changes"
#define GUARD 64
#include <stdlib.h>
#include <unistd.h>

#include "checked_exchange.h"

enum { MOST = 4096, LATE_US = 2000 };

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  must(argc == 3, "changes HOW CALLS");
  const char *const how = argv[1];
  const int calls = atoi(argv[2]);
  unsigned char *const from = malloc((size_t)ranks * MOST);
  unsigned char *const to = malloc((size_t)ranks * MOST + GUARD);
  must(from && to, "no memory");
  for (int phase = 0; phase < (strcmp(how, "phases") == 0 ? 3 : 1); ++phase)
    for (int call = 0; call < calls; ++call) {
      int bytes = phase == 1 ? 3000 : 8;
      if (strcmp(how, "sizes") == 0) bytes = 1 + call * 577 % MOST;
      if (strcmp(how, "slow") == 0) bytes = 64;
      if (strcmp(how, "slow") == 0 && rank == ranks - 1) usleep(LATE_US);
      exchange(MPI_COMM_WORLD, from, to, bytes);
    }
  if (rank == 0) puts("changes: right");
  free(from), free(to);
  MPI_Finalize();
  return 0;
}
