/* sessions persistent|blocking|anew [later]: all-to-alls on a communicator of a session, before and after MPI_Finalize,
 * which does not end the session; and on MPI_COMM_WORLD. The session begins before MPI_Init; `later`: after it.
 *
 * blocking: MPI_Alltoall.
 * persistent: a request that is made before MPI_Finalize.
 * anew: persistent requests, each made for one exchange, also on a duplicate of the communicator.
 * Prints "sessions: right" or what is wrong, and "sessions: none" where MPI has none. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
enum { MOST = 8, CALLS = 4, BLOCK = 3 };

static int send[MOST * BLOCK], receive[MOST * BLOCK], calls;

/* `request`: is started; MPI_REQUEST_NULL: a blocking call. */
static int exchange(MPI_Comm comm, MPI_Request request) {
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  ++calls;
  for (int i = 0; i < ranks * BLOCK; ++i) send[i] = 10000 * calls + 100 * rank + i, receive[i] = -1;
  if (request == MPI_REQUEST_NULL) MPI_Alltoall(send, BLOCK, MPI_INT, receive, BLOCK, MPI_INT, comm);
  else MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks * BLOCK; ++i)
    wrong += receive[i] != 10000 * calls + 100 * (i / BLOCK) + rank * BLOCK + i % BLOCK;
  return wrong;
}

static int exchanges(MPI_Comm comm, MPI_Request request) {
  int wrong = 0;
  for (int i = 0; i < CALLS; ++i) wrong += exchange(comm, request);
  return wrong;
}

static MPI_Request plan(MPI_Comm comm) {
  MPI_Request request;
  MPI_Alltoall_init(send, BLOCK, MPI_INT, receive, BLOCK, MPI_INT, comm, MPI_INFO_NULL, &request);
  return request;
}

static int exchange_anew(MPI_Comm comm) {
  MPI_Request request = plan(comm);
  const int wrong = exchange(comm, request);
  MPI_Request_free(&request);
  return wrong;
}

static MPI_Session session;

static MPI_Comm begin_session(void) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

int main(int argc, char **argv) {
  const int persistent = argc > 1 && strcmp(argv[1], "persistent") == 0;
  const int anew = argc > 1 && strcmp(argv[1], "anew") == 0;
  const int later = argc > 2 && strcmp(argv[2], "later") == 0;
  int rank, wrong = 0, all = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  if (!later) comm = begin_session();
  MPI_Init(&argc, &argv);
  if (later) comm = begin_session();
  MPI_Comm_rank(comm, &rank);
  wrong += exchanges(MPI_COMM_WORLD, MPI_REQUEST_NULL);
  if (anew) {
    MPI_Comm duplicate;
    wrong += exchange_anew(comm);
    MPI_Comm_dup(comm, &duplicate);
    wrong += exchange_anew(duplicate);
    MPI_Finalize();
    wrong += exchange_anew(comm) + exchange_anew(duplicate);
    MPI_Comm_free(&duplicate);
  } else {
    if (persistent) request = plan(comm);
    wrong += exchanges(comm, request);
    MPI_Finalize();
    wrong += exchanges(comm, request);
    if (persistent) MPI_Request_free(&request);
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, comm);
  if (rank == 0 && all > 0) printf("sessions: %d blocks wrong\n", all);
  else if (rank == 0) puts("sessions: right");
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return 0;
}
#else
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) puts("sessions: none");
  return MPI_Finalize();
}
#endif
