/* Plans of Swapmeet: two under way at a time, completed in an order that differs from rank to rank; mistakes;
 * descriptions. Arguments: a spec ("" for none), elements of a block, repetitions; or "mistakes". Prints "plans:
 * right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <swapmeet/swapmeet.h>

static int rank, ranks, wrong;

static void must(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "plans: rank %d: wrong: %s (%s)\n", rank, what, swapmeet_error_message());
  wrong = 1;
}

static int value(int source, int index, int repetition) { return 1000003 * source + 101 * index + 7 * repetition; }

/* elements between two ranks of the unequal exchange */
static int in_block(int n, int a, int b) { return (a + b) % (n + 1); }

static void check(const char *what, const int *received, int n, int unequal, int repetition) {
  for (int source = 0; source < ranks; ++source)
    for (int k = 0; k < n; ++k) {
      const int sent = !unequal || k < in_block(n, source, rank);
      must(received[source * n + k] == (sent ? value(source, rank * n + k, repetition) : -1), what);
    }
}

static void complete(swapmeet_plan *first, swapmeet_plan *second) {
  for (int done = 0; !done;) must(swapmeet_plan_test(first, &done) == MPI_SUCCESS, "test");
  must(swapmeet_plan_wait(second) == MPI_SUCCESS, "wait");
}

static void exchanges(const char *spec, int n, int repetitions) {
  const size_t bytes = (size_t)ranks * n * sizeof(int), list = (size_t)ranks * sizeof(int);
  int *out = malloc(bytes), *equal = malloc(bytes), *unequal = malloc(bytes), *counts = malloc(list),
      *places = malloc(list);
  MPI_Datatype pair;
  MPI_Type_contiguous(1, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int i = 0; i < ranks; ++i) counts[i] = in_block(n, rank, i), places[i] = i * n;
  swapmeet_plan *a = NULL, *b = NULL;
  must(!swapmeet_plan_alltoall(out, n, MPI_INT, equal, n, pair, MPI_COMM_WORLD, spec, &a), "plan_alltoall");
  must(!swapmeet_plan_alltoallv(out, counts, places, pair, unequal, counts, places, MPI_INT, MPI_COMM_WORLD, spec, &b),
       "plan_alltoallv");
  MPI_Type_free(&pair); /* as the header allows */
  memset(counts, 0x77, list);
  memset(places, 0x77, list);
  for (int r = 0; r < repetitions && !wrong; ++r) {
    for (int i = 0; i < ranks * n; ++i) out[i] = value(rank, i, r), equal[i] = unequal[i] = -1;
    must(!swapmeet_plan_start(a) && !swapmeet_plan_start(b), "start");
    (rank + r) % 2 ? complete(a, b) : complete(b, a);
    check("equal blocks", equal, n, 0, r);
    check("unequal blocks", unequal, n, 1, r);
  }
  swapmeet_plan_description about;
  must(!swapmeet_plan_describe(a, &about) && about.spec && about.reason, "describe");
  if (strncmp(about.spec, "native", 6) && ranks > 1) {
    must(about.messages >= 1 && about.bytes >= (long long)(bytes - bytes / ranks),
         "messages and bytes of equal blocks");
    must(about.expected_seconds > 0 && about.scratch_bytes >= 0, "expected time");
    must(!swapmeet_plan_describe(b, &about) && about.messages >= 0, "messages of unequal blocks, once exchanged");
  }
  must(!swapmeet_plan_free(&a) && !swapmeet_plan_free(&b) && !a && !b && !swapmeet_plan_free(&a), "free");
  free(out), free(equal), free(unequal), free(counts), free(places);
}

static void mistakes(void) {
  int out[64] = {0}, in[64], done = 7;
  swapmeet_plan *plan = NULL;
  must(swapmeet_plan_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, "nonsense", &plan) == MPI_ERR_ARG,
       "spec");
  must(strstr(swapmeet_error_message(), "unknown algorithm") != NULL, "sentence");
  must(swapmeet_plan_alltoall(out, rank ? 1 : -1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, NULL, &plan) == MPI_ERR_ARG,
       "count");
  must(swapmeet_plan_alltoall(out, 2, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, NULL, &plan) == MPI_ERR_ARG, "sizes");
  must(swapmeet_plan_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, rank ? "bruck" : "pairwise", &plan) ==
           (ranks > 1 ? MPI_ERR_ARG : MPI_SUCCESS),
       "specs that differ");
  must(!swapmeet_plan_free(&plan), "free of what there is");
  must(swapmeet_plan_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_NULL, NULL, &plan) == MPI_ERR_COMM,
       "communicator");
  must(plan == NULL, "the plan is unchanged on an error");
  must(swapmeet_plan_start(NULL) == MPI_ERR_REQUEST && swapmeet_plan_wait(NULL) == MPI_ERR_REQUEST, "no plan");
  must(!swapmeet_plan_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, "pairwise", &plan), "plan");
  must(swapmeet_plan_test(plan, NULL) == MPI_ERR_ARG, "no flag");
  must(!swapmeet_plan_test(plan, &done) && done == 1, "a plan that was not started is complete");
  must(!swapmeet_plan_wait(plan), "wait for what was not started");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    must(!swapmeet_plan_start(plan), "start");
    if (ranks > 1) { /* the others have not started: it cannot be complete */
      must(swapmeet_plan_start(plan) == MPI_ERR_REQUEST, "start twice");
      must(swapmeet_plan_free(&plan) == MPI_ERR_REQUEST && plan, "free what is under way");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank > 0) must(!swapmeet_plan_start(plan), "start");
  must(!swapmeet_plan_wait(plan) && !swapmeet_plan_free(&plan), "end");
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc == 2) mistakes();
  else exchanges(*argv[1] ? argv[1] : NULL, atoi(argv[2]), atoi(argv[3]));
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && !wrong) puts("plans: right");
  MPI_Finalize();
  return wrong;
}
