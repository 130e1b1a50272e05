// One rank comes late to an exchange that the other ranks go on with as far as they get: prints how many messages are in its
// queue of unexpected messages then, by the variable of that name that Open MPI has.
//
// Usage: late RANK PROGRAM...: the rank that is late, and for each rank what it does: sP (send to P), rP (receive from
// P), w (wait for all of these).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 1024, settled_s = 1 };

static long queued(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int count) {
  unsigned lengths[most];
  long sum = 0;
  if (MPI_T_pvar_read(session, handle, lengths) != MPI_SUCCESS) return -1;
  for (int i = 0; i < count; ++i) sum += lengths[i];
  return sum;
}

/// The largest length that the queue has while no message is received.
static long largest(int *found) {
  int index, count, flag;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  MPI_Comm comm = MPI_COMM_WORLD;
  *found = MPI_T_pvar_get_index("pml_ob1_unexpected_msgq_length", MPI_T_PVAR_CLASS_SIZE, &index) == MPI_SUCCESS;
  if (!*found) return -1;
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count);
  if (count > most) return -1;
  long length = -1;
  for (double changed = MPI_Wtime(); MPI_Wtime() < changed + settled_s;) {
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);  // of a tag that nobody uses: MPI goes on
    const long now = queued(session, handle, count);
    if (now > length) length = now, changed = MPI_Wtime();
  }
  MPI_T_pvar_handle_free(session, &handle);
  MPI_T_pvar_session_free(&session);
  return length;
}

int main(int argc, char **argv) {
  int provided, rank, ranks;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != ranks + 2) MPI_Abort(MPI_COMM_WORLD, 2);
  const int late = atoi(argv[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  int found = 0;
  const long length = rank == late ? largest(&found) : 0;
  MPI_Request requests[2 * most];
  int pending = 0;
  static char data[2 * most];
  for (char *word = strtok(argv[rank + 2], " "); word; word = strtok(NULL, " ")) {
    const int peer = atoi(word + 1);
    if (*word == 'w') {
      MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
      pending = 0;
    } else if (*word == 's') {
      MPI_Isend(&data[pending], 1, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[pending]), ++pending;
    } else {
      MPI_Irecv(&data[pending], 1, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[pending]), ++pending;
    }
  }
  if (rank == late) found ? printf("%ld\n", length) : printf("no such variable\n");
  MPI_Finalize();
  MPI_T_finalize();
  return 0;
}
