/* mistakes CASE: right calls, and one in which rank 1 passes something else than the others expect. Prints for each rank
 * what became of it: "right", or the class of the error; then, of a right call after it, "right" or "wrong". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16, ROOM = 64 };

static int rank, ranks;
static int send[MOST * ROOM], receive[MOST * ROOM];

static int exchange(void) {
  for (int i = 0; i < ranks; ++i) send[i] = 100 * rank + i;
  memset(receive, 0, sizeof receive);
  int error = MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; !error && i < ranks; ++i)
    if (receive[i] != 100 * i + rank) error = MPI_ERR_UNKNOWN;
  return error;
}

/* In a ring in which each rank has an edge to itself, too, each sends its n-th block to its n-th neighbour: first the next
 * rank. On rank 1 something else: the size of that block, the call, or that it has that edge twice. */
static int ring(const char *what) {
  const int me = rank == 1, twice = me && !strcmp(what, "edges");
  const int to[] = {(rank + 1) % ranks, rank, (rank + 1) % ranks}, from[] = {(rank + ranks - 1) % ranks, rank};
  int sent[] = {2, 2, 2}, expected[] = {2, 2};
  const int places[] = {0, 4, 8}, weights[] = {1, 1, 1};
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2 + twice, to, weights, MPI_INFO_NULL, 0, &graph);
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
  if (!strcmp(what, "sizes") && me) sent[0] = 3;
  const int error = !strcmp(what, "call") && me ? MPI_Neighbor_alltoall(send, 2, MPI_INT, receive, 2, MPI_INT, graph)
                                                : MPI_Neighbor_alltoallv(send, sent, places, MPI_INT, receive, expected,
                                                                         places, MPI_INT, graph);
  MPI_Comm_free(&graph);
  return error;
}

static int mistake(const char *what) {
  const int me = rank == 1;
  if (!strncmp(what, "ring-", 5)) return ring(what + 5);
  int sent[MOST], expected[MOST], places[MOST], close[MOST];
  for (int i = 0; i < ranks; ++i) sent[i] = expected[i] = 2, places[i] = 4 * i, close[i] = i;
  if (!strcmp(what, "sizes") && me) sent[2] = 3;
  if (!strcmp(what, "block")) return MPI_Alltoall(send, 2 + me, MPI_INT, receive, 2, MPI_INT, MPI_COMM_WORLD);
  if (!strcmp(what, "types"))
    return MPI_Alltoall(send, 1, me ? MPI_FLOAT : MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  if (!strcmp(what, "pairs")) /* right: MPI_2INT is as two MPI_INT */
    return MPI_Alltoall(send, me ? 1 : 2, me ? MPI_2INT : MPI_INT, receive, 2, MPI_INT, MPI_COMM_WORLD);
  if (!strcmp(what, "names") && me) MPI_Type_set_name(MPI_INT, "a number"); /* right, too */
  if (!strcmp(what, "place"))
    return MPI_Alltoall(me ? MPI_IN_PLACE : send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  if (!strcmp(what, "call") && me) return MPI_Alltoall(send, 2, MPI_INT, receive, 2, MPI_INT, MPI_COMM_WORLD);
  if (!strcmp(what, "overlap"))
    return MPI_Alltoallv(send, sent, places, MPI_INT, receive, expected, me ? close : places, MPI_INT, MPI_COMM_WORLD);
  if (!strcmp(what, "aliased"))
    return MPI_Alltoall(me ? receive + 1 : send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  return MPI_Alltoallv(send, sent, places, MPI_INT, receive, expected, places, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int before = exchange(), error = mistake(argv[1]), after = exchange();
  int its_class = MPI_SUCCESS;
  MPI_Error_class(error, &its_class);
  printf("%s, %s\n",
         its_class == MPI_ERR_ARG ? "arguments"
         : error                  ? "another error"
                                  : "right",
         before || after ? "wrong" : "right");
  MPI_Finalize();
  return 0;
}
