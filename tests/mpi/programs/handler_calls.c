/* handler_calls [known] MISTAKE...: wrong arguments, the same on all ranks, in every form of an all-to-all. Prints for each call
 * the class of its error, and how many times it called the error handler of its communicator, of MPI_COMM_WORLD and of
 * MPI_COMM_SELF. The harness compares this with the output without a library in between. `known`: ranks have exchanged on
 * the communicator before. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 4, MOST = 8 };

static int of_comm, of_world, of_self, known;

static void count_comm(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, ++of_comm; }
static void count_world(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, ++of_world; }
static void count_self(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, ++of_self; }

static int send[MOST * COUNT], receive[MOST * COUNT];
static int count;
static int counts[MOST], places[MOST];
static const int *given_counts;
static MPI_Aint far[MOST];
static MPI_Datatype type, types[MOST];
static MPI_Comm comm, valid;
static MPI_Request request, *given_request;

#define EQUAL send, count, type, receive, count, type, comm
#define VARYING send, given_counts, places, type, receive, given_counts, places, type, comm
#define TYPED send, given_counts, places, types, receive, given_counts, places, types, comm
#define FAR send, given_counts, far, types, receive, given_counts, far, types, comm

#define FORM(name, ...) \
  static int name(void) { return MPI_##name(__VA_ARGS__); }
#define FORMS(begins, ends, typed, ...)                            \
  FORM(begins##lltoall##ends, EQUAL __VA_OPT__(, ) __VA_ARGS__)    \
  FORM(begins##lltoallv##ends, VARYING __VA_OPT__(, ) __VA_ARGS__) \
  FORM(begins##lltoallw##ends, typed __VA_OPT__(, ) __VA_ARGS__)
FORMS(A, , TYPED)
FORMS(Ia, , TYPED, given_request)
FORMS(A, _init, TYPED, MPI_INFO_NULL, given_request)
FORMS(Neighbor_a, , FAR)
FORMS(Ineighbor_a, , FAR, given_request)
FORMS(Neighbor_a, _init, FAR, MPI_INFO_NULL, given_request)

#define NAMED(name) {#name, name}
#define ALL(begins, ends) NAMED(begins##lltoall##ends), NAMED(begins##lltoallv##ends), NAMED(begins##lltoallw##ends)
static const struct {
  const char *name;
  int (*call)(void);
} forms[] = {ALL(A, ), ALL(Ia, ), ALL(A, _init), ALL(Neighbor_a, ), ALL(Ineighbor_a, ), ALL(Neighbor_a, _init)};
enum { FORMS = sizeof forms / sizeof forms[0] };

static void right(void) {}
static void freed_comm(void) { MPI_Comm_free(&valid); }
static void null_comm(void) { comm = MPI_COMM_NULL; }
static void null_type(void) { type = MPI_DATATYPE_NULL; }
static void uncommitted_type(void) { MPI_Type_vector(2, 2, 3, MPI_INT, &type); }
static void negative_count(void) { count = -1; }
static void null_counts(void) { given_counts = NULL; }
static void null_request(void) { given_request = NULL; }

static const struct {
  const char *name;
  void (*spoil)(void);
} mistakes[] = {
    {"right", right},
    {"negative-count", negative_count},
    {"null-type", null_type},
    {"null-comm", null_comm},
    {"freed-comm", freed_comm},
    {"null-counts", null_counts},
    {"uncommitted-type", uncommitted_type},
    {"null-request", null_request},
};
enum { MISTAKES = sizeof mistakes / sizeof mistakes[0] };

static void set_handler(MPI_Comm on, MPI_Comm_errhandler_function *function) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(function, &handler);
  MPI_Comm_set_errhandler(on, handler);
  MPI_Errhandler_free(&handler);
}

/* A ring of two ways: each rank's neighbours are two. */
static MPI_Comm make_comm(int neighbours) {
  MPI_Comm made;
  int ranks;
  const int periodic = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (neighbours) MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &made);
  else MPI_Comm_dup(MPI_COMM_WORLD, &made);
  set_handler(made, count_comm);
  for (int call = 0; known && call < 5; ++call) {
    MPI_Ialltoall(send, 1, MPI_INT, receive, 1, MPI_INT, made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, made);
  }
  return made;
}

static void run(int form, int mistake) {
  int rank, class;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  comm = valid = make_comm(strstr(forms[form].name, "eighbor") != NULL);
  type = MPI_INT, count = COUNT, given_counts = counts, request = MPI_REQUEST_NULL, given_request = &request;
  for (int i = 0; i < MOST; ++i) places[i] = 0, far[i] = 0;
  mistakes[mistake].spoil();
  for (int i = 0; i < MOST; ++i) types[i] = type, counts[i] = count;
  of_comm = of_world = of_self = 0;
  const int error = forms[form].call();
  MPI_Error_class(error, &class);
  if (rank == 0)
    printf("%s %s: class %d, handler %d, of world %d, of self %d\n", mistakes[mistake].name, forms[form].name, class,
           of_comm, of_world, of_self);
  fflush(stdout);
  if (!error && request != MPI_REQUEST_NULL && strstr(forms[form].name, "_init")) MPI_Request_free(&request);
  else if (!error && request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (valid != MPI_COMM_NULL) MPI_Comm_free(&valid);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  set_handler(MPI_COMM_WORLD, count_world);
  set_handler(MPI_COMM_SELF, count_self);
  known = argc > 1 && !strcmp(argv[1], "known");
  for (int word = 1; word < argc; ++word)
    for (int mistake = 0; mistake < MISTAKES; ++mistake)
      for (int form = 0; form < FORMS; ++form)
        if (!strcmp(argv[word], mistakes[mistake].name)) run(form, mistake);
  MPI_Finalize();
  return 0;
}
