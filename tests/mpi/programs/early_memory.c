/* One rank comes late to an all-to-all that the other ranks go on with as far as they get, three times: prints by how many
 * bytes its private memory has grown meanwhile. In the first calls MPIs make pools.
 *
 * Usage: early_memory RANK BYTES: the rank that is late, and the bytes of a block. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 3 };

/* Not what is shared: a message may be read where its sender has left it. */
static long resident(void) {
  char line[200];
  long kib = -1;
  FILE *const file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "RssAnon: %ld", &kib) == 1) break;
  if (file) fclose(file);
  return kib * 1024;
}

/* Until nothing has grown for a while. MPI goes on: the tag is one that nobody uses. */
static long grown(double settled_s) {
  const long before = resident();
  long most = before;
  int flag;
  for (double changed = MPI_Wtime(); MPI_Wtime() < changed + settled_s;) {
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    const long now = resident();
    if (now > most) most = now, changed = MPI_Wtime();
  }
  return most - before;
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int late = rank == atoi(argv[1]), bytes = atoi(argv[2]);
  char *const sent = malloc((size_t)bytes * (size_t)ranks), *const received = malloc((size_t)bytes * (size_t)ranks);
  memset(sent, rank, (size_t)bytes * (size_t)ranks);
  memset(received, 0xff, (size_t)bytes * (size_t)ranks);
  for (int call = 0; call < CALLS; ++call) {
    const long more = late ? grown(2) : 0;
    MPI_Alltoall(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD);
    if (late) printf("%ld\n", more);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
