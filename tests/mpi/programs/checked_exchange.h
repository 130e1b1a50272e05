/* An exchange of which every byte is checked, in buffers with a guard behind the last block. The program defines PROGRAM, its
 * name in messages, and GUARD. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void must(int right, const char* what) {
  if (right) return;
  fprintf(stderr, PROGRAM ": wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static unsigned char value(int source, int destination, int bytes, int k) {
  return (unsigned char)(17 * source + 91 * destination + bytes + k + (k >> 8) * 7);
}

static void exchange(MPI_Comm comm, unsigned char* from, unsigned char* to, int bytes) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  for (int d = 0; d < size; ++d)
    for (int k = 0; k < bytes; ++k) from[(size_t)d * bytes + k] = value(me, d, bytes, k);
  memset(to, 0xa5, (size_t)size * bytes + GUARD);
  must(MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm) == MPI_SUCCESS, "MPI_Alltoall");
  memset(from, 0, (size_t)size * bytes);
  for (int s = 0; s < size; ++s)
    for (int k = 0; k < bytes; ++k) must(to[(size_t)s * bytes + k] == value(s, me, bytes, k), "a byte");
  for (int k = 0; k < GUARD; ++k) must(to[(size_t)size * bytes + k] == 0xa5, "beyond the last block");
}
