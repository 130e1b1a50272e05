/* One exchange, described as data: the suite's cases are tables of these. */
#ifndef CONFORMANCE_EXCHANGE_H
#define CONFORMANCE_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "suite.h"
#include "types.h"
#include "workload/workload.h"

/* Open MPI 5 has persistent collectives, but says that it is MPI 3. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

typedef enum {
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
#if MPI_VERSION >= 4
  ALLTOALL_C, /* the large-count forms */
  ALLTOALLV_C,
  ALLTOALLW_C,
#endif
  COLLECTIVES
} Collective;

/** How it is called: MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, swapmeet_plan_alltoall. */
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, PLAN, FORMS } Form;

/** How much each rank sends to each: block_bytes to all, or otherwise. */
typedef enum { UNIFORM, ZERO, ZERO_PAIRS, ZERO_RANKS, SKEWED, SPARSE, VARIED, PATTERNS } Pattern;

/** Where Alltoallv's and Alltoallw's blocks lie. The last two let blocks overlap, which only send blocks may. */
typedef enum { DENSE, GAPS, BACKWARDS, MIXED_ORDER, BELOW_ZERO, SAME_BLOCK, OVERLAPPING, PLACEMENTS } Placement;

typedef struct {
  Collective collective;
  Form form;
  TypeId send, recv;
  MPI_Aint block_bytes; /* rounded up to what both types can hold */
  Pattern pattern;
  const Workload* workload; /* if not NULL, it says how much, in place of the two above */
  Placement send_placement, recv_placement;
  bool in_place;
  bool bottom;        /* buffers are MPI_BOTTOM and the types hold their addresses */
  bool types_by_rank; /* each rank picks another shape of the family */
  bool types_by_peer; /* Alltoallw: each block has another; where blocks do not overlap */
  const char* spec;   /* PLAN: the algorithm, if it can serve the communicator; NULL: that of the other calls */
  int changed_pair;   /* k > 0: as without it, except that rank k - 1 sends another amount to rank k (modulo P) */
  uint64_t seed;
  int version; /* of the data: exchanges that differ in it alone are called with equal arguments */
} Exchange;

bool is_vector(Collective collective); /* each block has its count and its displacement */
bool has_types(Collective collective); /* and its type */
bool is_large_count(Collective collective);
const char* collective_name(Collective collective);

/** A name that tells all: the words of the description, slash-separated. @return name */
const char* exchange_name(const Exchange* exchange, char* name, size_t bytes);

/** Why it cannot be done here, on an intercommunicator or on another one; NULL if it can. The same on all ranks. */
const char* exchange_unsuitable(const Exchange* exchange, bool inter);

/** The form by which exchanges are started here: NONBLOCKING or PERSISTENT, as wanted if possible; or BLOCKING. */
Form exchange_started_form(bool persistent, bool inter);

/** Run it twice with different data, checking both buffers to the last byte, and report to the suite.
 *  Collective over comm, which may be an intercommunicator. */
void exchange_run(Suite* suite, const Exchange* exchange, MPI_Comm comm);

enum { EXCHANGE_RUNS = 2 }; /* of each exchange */

/** Run some that are under way together: started in this order, complete in another one, on each rank.
 *  @param comms  one for each exchange
 *  @param user   where ranks send one another messages meanwhile; MPI_COMM_NULL: nowhere */
void exchange_run_several(Suite* suite, const Exchange exchanges[], const MPI_Comm comms[], int number, MPI_Comm user);

#endif
