/* One rank kills itself: rank_dies HOW BYTES CALLS MICROSECONDS VICTIM FILE, before so many calls, or so many microseconds
 * later, which is somewhere in one of the next. Every other rank adds "survived: right" to FILE (a launcher may lose what is
 * printed after a death) when its exchange has ended with an error. They revoke the communicator, shrink it and exchange on
 * what is left before. HOW:
 *   blocking, varying, typed, neighbours   blocking exchanges
 *   typed-by-host, neighbours-by-host      the same, of which the host MPI serves some
 *   started, two                           non-blocking ones, after ranks have met; two: of unequal blocks, two at a time
 *   persistent                             persistent ones */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const char *how;
static int bytes;
static FILE *file;

static int is(const char *name) { return !strncmp(how, name, strlen(name)); }

static int of_neighbours(void) { return is("neighbours"); }

static int wait_for(int error, MPI_Request *request) { return error ? error : MPI_Wait(request, MPI_STATUS_IGNORE); }

static int start_varying(MPI_Comm comm, int ranks, const char *send, char *receive, MPI_Request *request) {
  static int counts[64], places[64]; /* until both are over */
  for (int i = 0; i < ranks; ++i) counts[i] = bytes, places[i] = i * bytes;
  return MPI_Ialltoallv(send, counts, places, MPI_BYTE, receive, counts, places, MPI_BYTE, comm, request);
}

static int exchange_two(MPI_Comm comm, int ranks, const char *send, char *receive) {
  static char *other; /* stays */
  if (!other) other = malloc((size_t)ranks * (size_t)bytes);
  MPI_Request first = MPI_REQUEST_NULL, second = MPI_REQUEST_NULL;
  const int started = start_varying(comm, ranks, send, receive, &first);
  const int also_started = start_varying(comm, ranks, send, other, &second);
  const int error = wait_for(started, &first), other_error = wait_for(also_started, &second);
  return error ? error : other_error;
}

static int exchange(MPI_Comm comm, const char *send, char *receive) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  if (is("two")) return exchange_two(comm, ranks, send, receive);
  MPI_Request request = MPI_REQUEST_NULL;
  if (is("started"))
    return wait_for(MPI_Ialltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, &request), &request);
  if (of_neighbours()) return MPI_Neighbor_alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm);
  if (is("varying") || is("typed")) {
    int counts[64], places[64];
    MPI_Datatype types[64];
    for (int i = 0; i < ranks; ++i) counts[i] = bytes, places[i] = i * bytes, types[i] = MPI_BYTE;
    if (is("typed")) return MPI_Alltoallw(send, counts, places, types, receive, counts, places, types, comm);
    return MPI_Alltoallv(send, counts, places, MPI_BYTE, receive, counts, places, MPI_BYTE, comm);
  }
  return MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm);
}

/* Non-blocking exchanges, which the host MPI serves until the ranks have met in other calls. */
static void set_up(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  char *const send = calloc((size_t)ranks, (size_t)bytes), *const receive = malloc((size_t)ranks * (size_t)bytes);
  for (int call = 0; call < 8; ++call) {
    exchange(comm, send, receive);
    MPI_Barrier(comm);
  }
  free(send);
  free(receive);
}

static void die(int signal) {
  (void)signal;
  kill(getpid(), SIGKILL);
}

/* `comm`, or one of its ranks that has each rank as a neighbour, of some weight. */
static MPI_Comm with_neighbours(MPI_Comm comm) {
  int ranks = 0, all[64];
  MPI_Comm graph = MPI_COMM_NULL;
  if (!of_neighbours()) return comm;
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) all[i] = i;
  MPI_Dist_graph_create_adjacent(comm, ranks, all, all, ranks, all, all, MPI_INFO_NULL, 0, &graph);
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
  return graph;
}

/* Returns the error of the first exchange that has one. */
static int exchange_until_error(MPI_Comm comm, int most, int calls, int delay, int dies) {
  int rank = 0, ranks = 0, error = MPI_SUCCESS;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const size_t all = (size_t)ranks * (size_t)bytes;
  char *const send = malloc(all), *const receive = malloc(all);
  MPI_Request plan = MPI_REQUEST_NULL;
  if (is("persistent"))
    error = MPI_Alltoall_init(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, MPI_INFO_NULL, &plan);
  for (int call = 0; !error && call < most; ++call) {
    memset(send, rank + 1, all);
    memset(receive, 0, all);
    if (dies && call == calls) {
      if (delay == 0) die(0);
      const struct itimerval soon = {{0, 0}, {0, delay}};
      signal(SIGALRM, die);
      setitimer(ITIMER_REAL, &soon, NULL);
    }
    error = plan == MPI_REQUEST_NULL ? exchange(comm, send, receive) : wait_for(MPI_Start(&plan), &plan);
    for (int i = 0; !error && i < ranks; ++i)
      for (int k = 0; k < bytes; k += bytes > 1 ? bytes - 1 : 1)
        if (receive[(size_t)i * (size_t)bytes + (size_t)k] != i + 1) {
          fprintf(file, "wrong: rank %d, call %d, from %d\n", rank, call, i);
          fflush(file);
          _exit(1);
        }
  }
  return error; /* buffers stay: of what had an error nobody knows */
}

int main(int argc, char **argv) {
  if (argc != 7 || !(file = fopen(argv[6], "a"))) return 2;
  how = argv[1];
  bytes = atoi(argv[2]);
  int rank = 0, provided = 0;
  MPI_Init_thread(&argc, &argv, getenv("SWAPMEET_NONBLOCKING") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  comm = with_neighbours(comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (is("started") || is("two")) set_up(comm);
  MPI_Barrier(MPI_COMM_WORLD); /* all have it */
  int error = exchange_until_error(comm, 100000000, atoi(argv[3]), atoi(argv[4]), rank == atoi(argv[5]));
  int its_class = MPI_SUCCESS;
  MPI_Error_class(error, &its_class);
  /* the request of a persistent one is a receive, whose error is this */
  const int cut = is("persistent") && its_class == MPI_ERR_TRUNCATE;
  /* Open MPI's own exchanges of neighbours and MPI_Alltoallw hand on the error of a wait for several; ours return that of a
   * message */
  const int of_several = strstr(how, "-by-host") && its_class == MPI_ERR_IN_STATUS;
  if (its_class != MPI_ERR_PROC_FAILED && its_class != MPI_ERR_REVOKED && !cut && !of_several)
    fprintf(file, "wrong: rank %d, error class %d\n", rank, its_class);
  MPI_Comm left = MPI_COMM_NULL;
  MPIX_Comm_revoke(comm);
  if (exchange_until_error(comm, 1, -1, 0, 0) == MPI_SUCCESS)
    fprintf(file, "wrong: rank %d, exchanges after all\n", rank);
  if (MPIX_Comm_shrink(comm, &left) != MPI_SUCCESS) fprintf(file, "wrong: rank %d, not shrunken\n", rank);
  else if ((error = exchange_until_error(with_neighbours(left), 200, -1, 0, 0)) != MPI_SUCCESS)
    fprintf(file, "wrong: rank %d, error %d on what is left\n", rank, error);
  int flag = 1;
  MPIX_Comm_agree(left, &flag);
  fprintf(file, "survived: right\n");
  fflush(file);
  MPI_Barrier(left);
  _exit(0); /* MPI_Finalize of Open MPI 5.0 waits for the dead now and then */
}
