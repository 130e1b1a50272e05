/* Wrong arguments of sparse exchanges: the rank that gives them gets one error and its sentence, the others get the
 * messages of the other ranks, and the next call is right.
 *
 *   sparse_mistakes SPEC */
#include <mpi.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <swapmeet/swapmeet.h>

static int rank, ranks, wrong;

static void expect(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "rank %d is wrong in %s: %s\n", rank, what, swapmeet_error_message());
  ++wrong;
}

struct arguments {
  const void *base;
  int messages;
  const int *to;
  const MPI_Count *counts;
  MPI_Datatype type;
};

/* Each rank sends 4 bytes to the next one; the last rank gives `bad` instead. */
static void with_mistake(const char *what, struct arguments bad, int error, const char *sentence) {
  const int next = (rank + 1) % ranks, sent = rank, odd = ranks - 1;
  const MPI_Count one = 1;
  swapmeet_sparse_messages *got = NULL;
  for (int round = 0; round < 2; ++round) {
    const int mistaken = round == 0 && rank == odd;
    const struct arguments right = {&sent, 1, &next, &one, MPI_INT}, given = mistaken ? bad : right;
    const int found = swapmeet_sparse_alltoallv(given.base, given.messages, given.to, given.counts, NULL, given.type,
                                                MPI_COMM_WORLD, &got);
    int class = MPI_SUCCESS;
    MPI_Error_class(found, &class);
    if (mistaken) {
      expect(class == error && got == NULL && strstr(swapmeet_error_message(), sentence), what);
      continue;
    }
    const int from = (rank + ranks - 1) % ranks;
    const int none = round == 0 && from == odd;
    expect(found == MPI_SUCCESS && got && got->count == !none, what);
    if (!none && got && got->count == 1)
      expect(got->sources[0] == from && got->sizes[0] == sizeof(int) && *(int *)got->data[0] == from, what);
    swapmeet_sparse_free(&got);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1 && swapmeet_set_algorithm(MPI_COMM_WORLD, argv[1]) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  const int zero = 0, negative = -1, beyond = ranks, two[2] = {0, 1 % ranks};
  const MPI_Count one = 1, minus = -1, counts[2] = {1, -3}, huge = (MPI_Count)1 << 61, large = (MPI_Count)INT_MAX + 2;
  MPI_Datatype loose;
  MPI_Type_contiguous(2, MPI_INT, &loose);
  with_mistake("a rank that is not there", (struct arguments){&zero, 1, &beyond, &one, MPI_INT}, MPI_ERR_RANK,
               "message 0: there is no rank");
  with_mistake("a negative rank", (struct arguments){&zero, 1, &negative, &one, MPI_INT}, MPI_ERR_RANK, "no rank -1");
  with_mistake("a negative count", (struct arguments){&zero, 1, &zero, &minus, MPI_INT}, MPI_ERR_COUNT,
               "message 0: its count is negative");
  with_mistake("the second count", (struct arguments){&zero, 2, two, counts, MPI_INT}, MPI_ERR_COUNT,
               "message 1: its count is negative");
  with_mistake("a count that overflows", (struct arguments){&zero, 1, &zero, &huge, MPI_INT}, MPI_ERR_COUNT,
               "more bytes than can be counted");
  with_mistake("a negative number of messages", (struct arguments){&zero, -2, &zero, &one, MPI_INT}, MPI_ERR_COUNT,
               "number of messages is negative");
  with_mistake("no destinations", (struct arguments){&zero, 1, NULL, &one, MPI_INT}, MPI_ERR_ARG, "NULL");
  with_mistake("no counts", (struct arguments){&zero, 1, &zero, NULL, MPI_INT}, MPI_ERR_ARG, "NULL");
  with_mistake("no type", (struct arguments){&zero, 1, &zero, &one, MPI_DATATYPE_NULL}, MPI_ERR_TYPE,
               "MPI_DATATYPE_NULL");
  with_mistake("a type that is not committed", (struct arguments){&zero, 1, &zero, &one, loose}, MPI_ERR_TYPE, "");
  with_mistake("in place", (struct arguments){MPI_IN_PLACE, 1, &zero, &one, MPI_INT}, MPI_ERR_BUFFER, "MPI_IN_PLACE");
  MPI_Type_free(&loose);

  swapmeet_sparse_messages *got = NULL;
  /* a count beyond INT_MAX that is right: of a type without bytes */
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  expect(swapmeet_sparse_alltoallv(&zero, 1, &zero, &large, NULL, empty, MPI_COMM_WORLD, &got) == MPI_SUCCESS &&
             got->count == (rank == 0 ? ranks : 0),
         "elements without bytes");
  swapmeet_sparse_free(&got);
  MPI_Type_free(&empty);

  expect(swapmeet_sparse_alltoallv(NULL, 0, NULL, NULL, NULL, MPI_DATATYPE_NULL, MPI_COMM_WORLD, &got) == MPI_SUCCESS &&
             got->count == 0,
         "nothing at all");
  swapmeet_sparse_free(&got);
  expect(swapmeet_sparse_alltoallv(NULL, 0, NULL, NULL, NULL, MPI_BYTE, MPI_COMM_WORLD, NULL) == MPI_ERR_ARG,
         "no place for what is received");
  expect(swapmeet_sparse_alltoallv(NULL, 0, NULL, NULL, NULL, MPI_BYTE, MPI_COMM_NULL, &got) == MPI_ERR_COMM,
         "no communicator");
  expect(swapmeet_sparse_free(NULL) == MPI_ERR_ARG && swapmeet_sparse_free(&got) == MPI_SUCCESS, "free");
  if (ranks > 1) {
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
    expect(swapmeet_sparse_alltoallv(NULL, 0, NULL, NULL, NULL, MPI_BYTE, inter, &got) == MPI_ERR_COMM,
           "an intercommunicator");
    MPI_Comm_free(&inter), MPI_Comm_free(&half);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("mistakes: %d errors\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
