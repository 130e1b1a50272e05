/* Exchanges on communicators of one rank while the library gets no memory, so that nobody waits for a rank that had none: first
 * until its reserve is used up (buffers/reserve.cpp), then from the n-th allocation on, for each n. A call that has memory again, on
 * the same communicator and on a duplicate of it, must be right, and the communicators can be freed: MPI holds no address of what
 * is gone. Prints "attributes: right", and in how many calls an allocation failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { USED_UP = 20, MOST_ROUNDS = 5000, MOST_ALLOCATIONS = 12, ALIVE = 40 };

static int (*arm)(const char *function, long nth, size_t bytes);
static long (*fired)(void);

/* The error of an exchange; its data must be right if there is none. */
static int exchange(MPI_Comm comm, int number, int *wrong) {
  int in = -1;
  const int error = MPI_Alltoall(&number, 1, MPI_INT, &in, 1, MPI_INT, comm);
  *wrong += error == MPI_SUCCESS && in != number;
  return error;
}

static MPI_Comm made(void) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

/* Whether the first exchange of a communicator fails where all allocations from the n-th on do. */
static int fails(long nth, int *wrong, int *refused) {
  MPI_Comm comm = made(), copy;
  arm("malloc*1000000000", nth, 1);
  const int failed = exchange(comm, (int)nth, wrong) != MPI_SUCCESS;
  *refused += fired() > 0;
  *wrong += exchange(comm, (int)nth + 1, wrong) != MPI_SUCCESS;
  MPI_Comm_dup(comm, &copy);
  *wrong += exchange(copy, (int)nth + 2, wrong) != MPI_SUCCESS;
  MPI_Comm_free(&comm);
  *wrong += exchange(copy, (int)nth + 3, wrong) != MPI_SUCCESS;
  MPI_Comm_free(&copy);
  return failed;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0, refused = 0, in_a_row = 0;
  MPI_Comm alive[ALIVE]; /* so many that tables of communicators grow meanwhile */
  *(void **)&arm = dlsym(RTLD_DEFAULT, "fault_arm");
  *(void **)&fired = dlsym(RTLD_DEFAULT, "fault_fired");
  if (!arm || !fired) return fprintf(stderr, "fault.c is not preloaded\n"), 1;
  for (int i = 0; i < MOST_ROUNDS && in_a_row < USED_UP; ++i) in_a_row = fails(1, &wrong, &refused) ? in_a_row + 1 : 0;
  refused = 0;
  for (int i = 0; i < ALIVE; ++i) {
    for (long nth = 1; nth <= MOST_ALLOCATIONS; ++nth) fails(nth, &wrong, &refused);
    exchange(alive[i] = made(), i, &wrong);
  }
  for (int i = 0; i < ALIVE; ++i) MPI_Comm_free(&alive[i]);
  printf("attributes: %s, %d without memory\n", wrong == 0 ? "right" : "WRONG", refused);
  MPI_Finalize();
  return 0;
}
