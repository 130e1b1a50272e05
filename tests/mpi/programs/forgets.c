/* forgets [nonblocking]: all-to-alls on MPI_COMM_WORLD that go to the host MPI, before each of which rank 1 alone uses and
 * frees a communicator of its own: the library looks MPI_COMM_WORLD up again, there alone. First come exchanges of nothing;
 * then, or after a non-blocking one, of 256 bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 256, CALLS = 40 };

static int rank, ranks, wrong;
static unsigned char *sent, *received;

static void use_another(void) {
  MPI_Comm alone;
  unsigned char from = 1, to = 0;
  if (rank != 1) return;
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  MPI_Alltoall(&from, 1, MPI_BYTE, &to, 1, MPI_BYTE, alone);
  wrong += to != 1;
  MPI_Comm_free(&alone);
}

static void exchange(int bytes, int nonblocking) {
  MPI_Request request;
  for (int i = 0; i < BYTES * ranks; ++i) sent[i] = (unsigned char)(rank + i / BYTES), received[i] = 0xff;
  use_another();
  if (nonblocking) {
    MPI_Ialltoall(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Alltoall(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
  for (int i = 0; i < BYTES * ranks; ++i)
    wrong += received[i] != (bytes == BYTES ? (unsigned char)(rank + i / BYTES) : 0xff);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); /* MPICH: in its progress nobody may wait, then */
  (void)argv;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  sent = malloc((size_t)(BYTES * ranks));
  received = malloc((size_t)(BYTES * ranks));
  for (int call = 0; call < CALLS; ++call) exchange(0, 0);
  if (argc > 1) exchange(BYTES, 1);
  for (int call = 0; call < CALLS; ++call) exchange(BYTES, 0);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong bytes\n", wrong);
  free(sent);
  free(received);
  MPI_Finalize();
  return wrong > 0;
}
