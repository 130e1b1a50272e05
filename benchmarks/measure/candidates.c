#define _GNU_SOURCE
#include "candidates.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explained.h"
#include "passed.h"

typedef int Alltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
typedef int Alltoallv(const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *,
                      MPI_Datatype, MPI_Comm);

typedef int Ialltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *);
typedef int Ialltoallv(const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *,
                       MPI_Datatype, MPI_Comm, MPI_Request *);

enum { MOST_KEPT = 16 };

typedef struct {
  char *spec;
  bool native, called;         /* called: in this cell */
  const char *ran, *reason;    /* in this cell; on rank 0 */
  Explanation kept[MOST_KEPT]; /* what was said of it so far, the oldest overwritten; on rank 0 */
  unsigned explanations;
} Candidate;

struct Candidates {
  const World *world;
  int count, selected; /* the one whose spec is in force, or -1 */
  Candidate *candidate[MOST_CANDIDATES];
  MPI_Comm native, ours;
  Alltoall *alltoall; /* of the host MPI; NULL: its library was not found */
  Alltoallv *alltoallv;
  Ialltoall *ialltoall;
  Ialltoallv *ialltoallv;
  int (*set_algorithm)(MPI_Comm, const char *); /* NULL: libswapmeet.so is not preloaded */
};

/* The MPI's own function: libswapmeet.so, and whatever else is preloaded, is not asked. */
static void *underneath(const char *name) {
  Dl_info where;
  int (*not_ours)(int *, int *) = MPI_Get_version;
  void *const mpi = dladdr(*(void **)&not_ours, &where) ? dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
  return mpi ? dlsym(mpi, name) : NULL;
}

Candidates *candidates_begin(const World *world) {
  Candidates *all = calloc(1, sizeof *all);
  all->world = world;
  all->selected = -1;
  *(void **)&all->alltoall = underneath("PMPI_Alltoall");
  *(void **)&all->alltoallv = underneath("PMPI_Alltoallv");
  *(void **)&all->ialltoall = underneath("PMPI_Ialltoall");
  *(void **)&all->ialltoallv = underneath("PMPI_Ialltoallv");
  *(void **)&all->set_algorithm = dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  MPI_Comm_dup(MPI_COMM_WORLD, &all->native);
  MPI_Comm_dup(MPI_COMM_WORLD, &all->ours);
  MPI_Comm_set_errhandler(all->native, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(all->ours, MPI_ERRORS_RETURN);
  return all;
}

void candidates_end(Candidates *all) {
  for (int i = 0; i < all->count; ++i) {
    free(all->candidate[i]->spec);
    free(all->candidate[i]);
  }
  MPI_Comm_free(&all->ours);
  MPI_Comm_free(&all->native);
  free(all);
}

static void listen(const Candidates *all) {
  if (all->world->rank == 0) explained_begin();
}

/* Ends listening. Returns what was said, which is kept; NULL: nothing, or what was said before. */
static const Explanation *keep(const Candidates *all, Candidate *candidate) {
  Explanation *const next = &candidate->kept[candidate->explanations % MOST_KEPT];
  if (all->world->rank != 0 || !explained_end(next)) return NULL;
  ++candidate->explanations;
  return next;
}

/* What was said before of such a call, the last first. `bytes`: of a block, -1 if they differ. NULL: nothing. */
static const Explanation *said_before(const Candidate *candidate, bool vector, long long bytes, bool native) {
  const unsigned end = candidate->explanations, begin = end > MOST_KEPT ? end - MOST_KEPT : 0;
  for (unsigned i = end; i-- > begin;) {
    const Explanation *const e = &candidate->kept[i % MOST_KEPT];
    if (e->vector == vector && (vector || (e->least <= bytes && bytes <= e->most)) &&
        !strcmp(e->spec, "native") == native)
      return e;
  }
  return NULL;
}

int candidates_add(Candidates *all, const char *spec, char *why, size_t why_bytes) {
  const bool native = !strcmp(spec, "native");
  if (all->count == MOST_CANDIDATES)
    return snprintf(why, why_bytes, "there are %d candidates already", MOST_CANDIDATES), -1;
  if (native && !(all->alltoall && all->alltoallv && all->ialltoall && all->ialltoallv))
    return snprintf(why, why_bytes, "the library of the host MPI was not found"), -1;
  if (!native && !all->set_algorithm) return snprintf(why, why_bytes, "libswapmeet.so is not preloaded"), -1;
  if (!native) {
    all->selected = -1;
    if (all->set_algorithm(all->ours, spec) != MPI_SUCCESS)
      return snprintf(why, why_bytes, "libswapmeet.so does not take \"%.100s\"", spec), -1;
  }
  Candidate *const made = all->candidate[all->count] = calloc(1, sizeof *made);
  made->spec = strdup(spec);
  made->native = native;
  return all->count++;
}

int candidates_count(const Candidates *all) { return all->count; }

bool candidates_is_native(const Candidates *all, int candidate) { return all->candidate[candidate]->native; }

MPI_Comm candidates_comm(const Candidates *all, int candidate) {
  return all->candidate[candidate]->native ? all->native : all->ours;
}

void candidates_new_cell(Candidates *all) {
  for (int i = 0; i < all->count; ++i) all->candidate[i]->called = false;
}

/* After an error the ranks may be anywhere in the exchange: there is no going on. */
static void fail(const Candidate *candidate, int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  Explanation unused;
  explained_end(&unused);
  MPI_Error_string(error, text, &length);
  fprintf(stderr, "measure: \"%s\" failed: %s\n", candidate->spec, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void call(const Candidates *all, const Candidate *candidate, const Cell *cell) {
  const MPI_Comm comm = candidate->native ? all->native : all->ours;
  int error;
  if (cell->vector) {
    Alltoallv *const alltoallv = candidate->native ? all->alltoallv : MPI_Alltoallv;
    error = alltoallv(cell->send, cell->send_counts, cell->send_places, cell->type, cell->receive, cell->receive_counts,
                      cell->receive_places, cell->type, comm);
  } else {
    Alltoall *const alltoall = candidate->native ? all->alltoall : MPI_Alltoall;
    error = alltoall(cell->send, cell->send_counts[0], cell->type, cell->receive, cell->receive_counts[0], cell->type,
                     comm);
  }
  if (error != MPI_SUCCESS) fail(candidate, error);
}

void candidates_start(const Candidates *all, int number, const Cell *cell, MPI_Request *request) {
  const Candidate *const candidate = all->candidate[number];
  const MPI_Comm comm = candidate->native ? all->native : all->ours;
  int error;
  if (cell->vector) {
    Ialltoallv *const ialltoallv = candidate->native ? all->ialltoallv : MPI_Ialltoallv;
    error = ialltoallv(cell->send, cell->send_counts, cell->send_places, cell->type, cell->receive,
                       cell->receive_counts, cell->receive_places, cell->type, comm, request);
  } else {
    Ialltoall *const ialltoall = candidate->native ? all->ialltoall : MPI_Ialltoall;
    error = ialltoall(cell->send, cell->send_counts[0], cell->type, cell->receive, cell->receive_counts[0], cell->type,
                      comm, request);
  }
  if (error != MPI_SUCCESS) fail(candidate, error);
}

void candidates_call(const Candidates *all, int candidate, const Cell *cell) {
  call(all, all->candidate[candidate], cell);
}

/* The library never puts one algorithm in the place of another that was asked for: it serves a call by that, or leaves
 * it to the host MPI. So only the automatic choice can be unknown. */
static void find_out(const Candidates *all, Candidate *candidate, const Cell *cell) {
  const int before = measure_passed();
  listen(all);
  call(all, candidate, cell);
  const Explanation *e = keep(all, candidate);
  const bool native = measure_passed() != before;
  if (all->world->rank != 0) return;
  const long long bytes = cell->vector ? -1 : (long long)((size_t)cell->send_counts[0] * cell->unit);
  if (!e) e = said_before(candidate, cell->vector, bytes, native);
  candidate->reason = e ? e->reason : "";
  if (e) candidate->ran = e->spec;
  else if (native) candidate->ran = "native";
  else candidate->ran = strcmp(candidate->spec, "auto") ? candidate->spec : "?";
}

void candidates_select(Candidates *all, int number, const Cell *cell) {
  Candidate *const candidate = all->candidate[number];
  if (!candidate->native && all->selected != number) {
    all->set_algorithm(all->ours, candidate->spec);
    all->selected = number;
  }
  if (candidate->called) {
    call(all, candidate, cell);
  } else if (candidate->native) {
    call(all, candidate, cell);
    candidate->ran = "native";
    candidate->reason = "";
  } else {
    find_out(all, candidate, cell);
  }
  candidate->called = true;
}

const char *candidates_ran(const Candidates *all, int candidate, const char **reason) {
  *reason = all->candidate[candidate]->reason;
  return all->candidate[candidate]->ran;
}
