/* The communicators that cases run on. They live through the whole run, so that what a library caches on one is reused
 * by many different calls. */
#include "communicators.h"

#include "oracle.h"

static MPI_Comm made[COMMUNICATORS];

static const char *const names[COMMUNICATORS] = {"world",    "duplicate", "even-odd", "reversed",
                                                 "shuffled", "ring",      "self"};

const char *communicator_name(Communicator which) { return names[which]; }

MPI_Comm communicator(Communicator which) { return made[which]; }

void communicators_open(void) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  made[WORLD] = MPI_COMM_WORLD;
  made[SELF] = MPI_COMM_SELF;
  MPI_Comm_dup(MPI_COMM_WORLD, &made[DUPLICATE]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made[PARITY]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &made[REVERSED]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, (int)(oracle_mix((uint64_t)rank) >> 40), &made[SHUFFLED]);
  MPI_Cart_create(MPI_COMM_WORLD, 1, (const int[]){ranks}, (const int[]){1}, 1, &made[RING]);
}

void communicators_close(void) {
  for (int which = 0; which < COMMUNICATORS; ++which)
    if (which != WORLD && which != SELF) MPI_Comm_free(&made[which]);
}
