/* typed_plans: makes, uses and frees plans of MPI_Alltoallw with types of their own, on all ranks and on one alone. Prints
 * "typed_plans: right", or how much more of the heap is in use after each stretch of them: at least, for an MPI's own
 * pools grow in one of them. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <swapmeet/swapmeet.h>

enum { MOST_RANKS = 8, STRETCHES = 5, PLANS = 80, MORE = 4 << 10 };

static int send[MOST_RANKS], receive[MOST_RANKS];

static int use_plan(MPI_Comm comm, MPI_Datatype of) {
  int ranks, counts[MOST_RANKS], displacements[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS], own;
  MPI_Comm_size(comm, &ranks);
  MPI_Type_dup(of, &own);
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 1;
    displacements[i] = i * (int)sizeof(int);
    types[i] = own;
  }
  swapmeet_plan *plan = NULL;
  int error = swapmeet_plan_alltoallw(send, counts, displacements, types, receive, counts, displacements, types, comm,
                                      NULL, &plan);
  MPI_Type_free(&own);
  if (!error) error = swapmeet_plan_start(plan);
  if (!error) error = swapmeet_plan_wait(plan);
  if (!error) error = swapmeet_plan_free(&plan);
  return error;
}

static long heap(void) {
  const struct mallinfo2 all = mallinfo2();
  return (long)(all.uordblks + all.hblkhd);
}

int main(int argc, char **argv) {
  long least = 0;
  int error = 0, rank;
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int stretch = 0; stretch < STRETCHES && !error; ++stretch) {
    const long before = heap();
    for (int i = 0; i < PLANS && !error; ++i) {
      error = use_plan(MPI_COMM_WORLD, type);
      if (!error) error = use_plan(MPI_COMM_SELF, type);
    }
    const long grown = heap() - before;
    if (stretch == 1 || grown < least) least = grown; /* The first makes what is kept. */
  }
  if (error) printf("typed_plans: error %d on rank %d\n", error, rank);
  else if (least > MORE) printf("typed_plans: %ld B more on rank %d\n", least, rank);
  else puts("typed_plans: right");
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
