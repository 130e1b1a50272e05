/* Wrong arguments: prints the error class of each call. The harness compares the output with and without a library in
 * between. All ranks make the same mistake, so that none waits for another. Left out, because they crash an MPI: on Open
 * MPI (5.0.11) NULL buffers with counts above zero; NULL count arrays and, at P = 1, Alltoallv with one buffer for both
 * (MPICH 5.0.2). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4 };

/* A correct call, of which each case spoils a part. */
typedef struct {
  int ranks;
  void *send, *recv;
  int send_count, recv_count;
  int *send_counts, *send_displacements, *recv_counts, *recv_displacements;
  MPI_Datatype send_type, recv_type;
  MPI_Datatype *send_types, *recv_types; /* Alltoallw's: the same for all, unless a case changes one */
  MPI_Comm comm;
} Call;

typedef enum { ALLTOALL, ALLTOALLV, ALLTOALLW, COLLECTIVES } Collective;
static const char *const collective_names[COLLECTIVES] = {"alltoall", "alltoallv", "alltoallw"};

static MPI_Datatype uncommitted = MPI_DATATYPE_NULL, uncommitted_bytes = MPI_DATATYPE_NULL; /* of plain bytes */

static void correct(Call *c) { (void)c; }
static void negative_send_count(Call *c) { c->send_count = c->send_counts[0] = -1; }
static void negative_recv_count(Call *c) { c->recv_count = c->recv_counts[0] = -1; }
static void null_send_type(Call *c) { c->send_type = MPI_DATATYPE_NULL; }
static void null_recv_type(Call *c) { c->recv_type = MPI_DATATYPE_NULL; }
static void uncommitted_send_type(Call *c) { c->send_type = uncommitted; }
static void uncommitted_recv_type(Call *c) { c->recv_type = uncommitted; }
static void uncommitted_bytes_send_type(Call *c) { c->send_type = uncommitted_bytes; }
static void uncommitted_bytes_recv_type(Call *c) { c->recv_type = uncommitted_bytes; }
static void one_null_send_type(Call *c) { c->send_types[c->ranks - 1] = MPI_DATATYPE_NULL; }
static void one_null_recv_type(Call *c) { c->recv_types[c->ranks - 1] = MPI_DATATYPE_NULL; }
static void one_uncommitted_send_type(Call *c) { c->send_types[0] = uncommitted; }
static void one_uncommitted_recv_type(Call *c) { c->recv_types[0] = uncommitted; }
static void one_negative_count(Call *c) { c->recv_counts[c->ranks - 1] = -1; }
static void null_comm(Call *c) { c->comm = MPI_COMM_NULL; }
static void in_place_recv(Call *c) { c->recv = MPI_IN_PLACE; }
static void same_buffer(Call *c) { c->send = c->recv; }

#ifndef OPEN_MPI
static void null_send_buffer(Call *c) { c->send = NULL; }
static void null_recv_buffer(Call *c) { c->recv = NULL; }

static void in_place_null_recv_buffer(Call *c) {
  c->send = MPI_IN_PLACE;
  c->recv = NULL;
}
#endif

static void zero_counts(Call *c) {
  c->send_count = c->recv_count = 0;
  for (int peer = 0; peer < c->ranks; ++peer) c->send_counts[peer] = c->recv_counts[peer] = 0;
}

static void zero_counts_null_buffers(Call *c) {
  zero_counts(c);
  c->send = c->recv = NULL;
}

static void zero_counts_null_types(Call *c) {
  zero_counts(c);
  c->send_type = c->recv_type = MPI_DATATYPE_NULL;
}

static void in_place_null_send_type(Call *c) {
  c->send = MPI_IN_PLACE;
  c->send_type = MPI_DATATYPE_NULL;
  c->send_count = -1;
  c->send_counts = c->send_displacements = NULL;
}

static void in_place_null_recv_type(Call *c) {
  c->send = MPI_IN_PLACE;
  c->recv_type = MPI_DATATYPE_NULL;
}

static const struct {
  const char *name;
  void (*spoil)(Call *call);
  unsigned without; /* the collectives that it is not for, a bit each */
} cases[] = {
    {"correct", correct, 0},
    {"negative-send-count", negative_send_count, 0},
    {"negative-recv-count", negative_recv_count, 0},
    {"null-send-type", null_send_type, 0},
    {"null-recv-type", null_recv_type, 0},
    {"uncommitted-send-type", uncommitted_send_type, 0},
    {"uncommitted-recv-type", uncommitted_recv_type, 0},
    {"uncommitted-bytes-send-type", uncommitted_bytes_send_type, 0},
    {"uncommitted-bytes-recv-type", uncommitted_bytes_recv_type, 0},
    {"null-comm", null_comm, 0},
    {"in-place-as-recv-buffer", in_place_recv, 0},
    {"same-buffer", same_buffer, 1 << ALLTOALLV | 1 << ALLTOALLW},
    {"zero-counts", zero_counts, 0},
    {"zero-counts-null-buffers", zero_counts_null_buffers, 0},
    {"zero-counts-null-types", zero_counts_null_types, 1 << ALLTOALLW}, /* Swapmeet takes them, Open MPI does not */
    {"one-null-send-type", one_null_send_type, 1 << ALLTOALL | 1 << ALLTOALLV},
    {"one-null-recv-type", one_null_recv_type, 1 << ALLTOALL | 1 << ALLTOALLV},
    {"one-uncommitted-send-type", one_uncommitted_send_type, 1 << ALLTOALL | 1 << ALLTOALLV},
    {"one-uncommitted-recv-type", one_uncommitted_recv_type, 1 << ALLTOALL | 1 << ALLTOALLV},
    {"one-negative-count", one_negative_count, 1 << ALLTOALL},
    {"in-place-null-send-type", in_place_null_send_type, 0},
    {"in-place-null-recv-type", in_place_null_recv_type, 0},
#ifndef OPEN_MPI
    {"null-send-buffer", null_send_buffer, 0},
    {"null-recv-buffer", null_recv_buffer, 0},
    {"in-place-null-recv-buffer", in_place_null_recv_buffer, 0},
#endif
    {"correct-again", correct, 0},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static const char *class_name(int class) {
  const struct {
    int class;
    const char *name;
  } names[] = {
      {MPI_SUCCESS, "MPI_SUCCESS"},           {MPI_ERR_BUFFER, "MPI_ERR_BUFFER"}, {MPI_ERR_COUNT, "MPI_ERR_COUNT"},
      {MPI_ERR_TYPE, "MPI_ERR_TYPE"},         {MPI_ERR_COMM, "MPI_ERR_COMM"},     {MPI_ERR_ARG, "MPI_ERR_ARG"},
      {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE"}, {MPI_ERR_OTHER, "MPI_ERR_OTHER"},   {MPI_ERR_INTERN, "MPI_ERR_INTERN"},
  };
  for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k)
    if (names[k].class == class) return names[k].name;
  return "another class";
}

static int call(const Call *c, Collective collective) {
  switch (collective) {
    case ALLTOALLV:
      return MPI_Alltoallv(c->send, c->send_counts, c->send_displacements, c->send_type, c->recv, c->recv_counts,
                           c->recv_displacements, c->recv_type, c->comm);
    case ALLTOALLW:
      return MPI_Alltoallw(c->send, c->send_counts, c->send_displacements, c->send_types, c->recv, c->recv_counts,
                           c->recv_displacements, c->recv_types, c->comm);
    default: return MPI_Alltoall(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->comm);
  }
}

/* @return the error class of the spoilt call. */
static int run_case(int which, Collective collective, MPI_Comm comm) {
  int ranks, class;
  MPI_Comm_size(comm, &ranks);
  const size_t elements = (size_t)ranks * COUNT;
  int *buffers = calloc(2 * elements, sizeof *buffers), *arrays = calloc(4 * (size_t)ranks, sizeof *arrays);
  MPI_Datatype *types = malloc(2 * (size_t)ranks * sizeof *types);
  Call c = {.ranks = ranks,
            .send = buffers,
            .recv = buffers + elements,
            .send_count = COUNT,
            .recv_count = COUNT,
            .send_counts = arrays,
            .recv_counts = arrays + ranks,
            .send_displacements = arrays + 2 * ranks,
            .recv_displacements = arrays + 3 * ranks,
            .send_type = MPI_INT,
            .recv_type = MPI_INT,
            .send_types = types,
            .recv_types = types + ranks,
            .comm = comm};
  for (int peer = 0; peer < ranks; ++peer) {
    c.send_counts[peer] = c.recv_counts[peer] = COUNT;
    c.send_displacements[peer] = c.recv_displacements[peer] =
        COUNT * peer * (collective == ALLTOALLW ? (int)sizeof(int) : 1);
    c.send_types[peer] = c.recv_types[peer] = MPI_INT;
  }
  cases[which].spoil(&c);
  for (int peer = 0; peer < ranks; ++peer) {
    if (c.send_type != MPI_INT) c.send_types[peer] = c.send_type;
    if (c.recv_type != MPI_INT) c.recv_types[peer] = c.recv_type;
  }
  const int code = call(&c, collective);
  MPI_Error_class(code, &class);
  free(buffers);
  free(arrays);
  free(types);
  return class;
}

static int handler_calls;

static void count_error(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  ++handler_calls;
}

static void run_all(const char *where, MPI_Comm comm, MPI_Comm report, const char *only) {
  int rank, ranks;
  MPI_Comm_rank(report, &rank);
  MPI_Comm_size(report, &ranks);
  int *classes = calloc((size_t)ranks, sizeof *classes);
  for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective)
    for (int which = 0; which < CASES; ++which) {
      if (cases[which].without & 1u << collective) continue;
      if (only && !strstr(cases[which].name, only)) continue;
      const int class = run_case(which, collective, comm);
      int differing = 0;
      MPI_Gather(&class, 1, MPI_INT, classes, 1, MPI_INT, 0, report);
      for (int other = 0; other < ranks && rank == 0; ++other) differing += classes[other] != class;
      if (rank == 0) {
        printf("%s/%s/%s: %s/%d", where, collective_names[collective], cases[which].name, class_name(class), class);
        if (differing > 0) printf(" (another on %d ranks)", differing);
        puts("");
        fflush(stdout);
      }
    }
  free(classes);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *only = argc > 1 ? argv[1] : NULL;
  int rank;
  MPI_Comm report, copy;
  MPI_Errhandler counting;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &report);
  MPI_Type_vector(2, 2, 3, MPI_INT, &uncommitted);
  MPI_Type_contiguous(4, MPI_INT, &uncommitted_bytes);
  /* MPI_COMM_NULL has no handler: its error goes to that of MPI_COMM_WORLD or, since MPI-4, of MPI_COMM_SELF. */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  run_all("duplicate", copy, report, only);
  run_all("world", MPI_COMM_WORLD, report, only);
  MPI_Comm_create_errhandler(count_error, &counting);
  MPI_Comm_set_errhandler(copy, counting);
  run_all("handler", copy, report, only);
  if (rank == 0) printf("the user's handler ran %d times on rank 0\n", handler_calls);
  MPI_Errhandler_free(&counting);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&report);
  MPI_Type_free(&uncommitted);
  MPI_Type_free(&uncommitted_bytes);
  MPI_Finalize();
  return 0;
}
