/* How much stack a thread needs for all-to-alls: stack WHERE TYPES SPEC... Each spec is used by a thread of its own, on a
 * communicator that it has not been used on before; "-": the one that the variables say, so that in the first of them
 * the library begins, too. WHERE: "inside": the first thread calls MPI_Init_thread; "outside": main() does. TYPES: "plain", or "derived": of one int in three, at either end or at both. Prints a line for each: "stack RANK BYTES SPEC"; and "wrong" if data is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK_BYTES = 1 << 20, PAINT = 0xa5, MOST_INTS = 20000 };

typedef struct {
  int begins; /* calls MPI_Init_thread */
  int derived;
  const char *spec;
  MPI_Comm comm;
  int wrong;
} Work;

static void begin(void) {
  int level;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
}

static int value(int from, int to, int index) { return 1000003 * from + 1009 * to + index; }

/* Of blocks of `ints` elements, an int in every `step` ints. */
typedef struct {
  MPI_Datatype type;
  int step;
  int *data, *counts, *places;
  MPI_Datatype *types;
} Side;

static Side side(MPI_Datatype type, int step, int ranks, int ints, int in_bytes) {
  Side made = {type,
               step,
               calloc((size_t)ranks * (size_t)ints * (size_t)step + 1, sizeof(int)),
               malloc((size_t)ranks * sizeof(int)),
               malloc((size_t)ranks * sizeof(int)),
               malloc((size_t)ranks * sizeof(MPI_Datatype))};
  for (int peer = 0; peer < ranks; ++peer) {
    made.counts[peer] = ints;
    made.places[peer] = peer * ints * (in_bytes ? step * (int)sizeof(int) : 1);
    made.types[peer] = type;
  }
  return made;
}

static void free_side(const Side *side) { free(side->data), free(side->counts), free(side->places), free(side->types); }

static int *element(const Side *side, int ints, int peer, int k) { return &side->data[(peer * ints + k) * side->step]; }

enum { ALLTOALL, ALLTOALLV, ALLTOALLW, IN_PLACE, HOWS };

static void exchange(Work *work, int ints, MPI_Datatype from, int from_step, MPI_Datatype to, int to_step, int how) {
  int rank, ranks;
  MPI_Comm_rank(work->comm, &rank);
  MPI_Comm_size(work->comm, &ranks);
  if (how == IN_PLACE) from = to, from_step = to_step;
  const Side send = side(from, from_step, ranks, ints, how == ALLTOALLW),
             receive = side(to, to_step, ranks, ints, how == ALLTOALLW);
  const Side *const filled = how == IN_PLACE ? &receive : &send;
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < ints; ++k) *element(filled, ints, peer, k) = value(rank, peer, k);
  if (how == ALLTOALL) MPI_Alltoall(send.data, ints, from, receive.data, ints, to, work->comm);
  if (how == IN_PLACE) MPI_Alltoall(MPI_IN_PLACE, 0, from, receive.data, ints, to, work->comm);
  if (how == ALLTOALLV)
    MPI_Alltoallv(send.data, send.counts, send.places, from, receive.data, receive.counts, receive.places, to,
                  work->comm);
  if (how == ALLTOALLW)
    MPI_Alltoallw(send.data, send.counts, send.places, send.types, receive.data, receive.counts, receive.places,
                  receive.types, work->comm);
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < ints; ++k) work->wrong += *element(&receive, ints, peer, k) != value(peer, rank, k);
  free_side(&send), free_side(&receive);
}

static void *run(void *argument) {
  Work *const work = argument;
  MPI_Datatype spread;
  int (*set_algorithm)(MPI_Comm, const char *);
  if (work->begins) begin();
  *(void **)&set_algorithm = dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  MPI_Comm_dup(MPI_COMM_WORLD, &work->comm);
  if (set_algorithm && strcmp(work->spec, "-") && set_algorithm(work->comm, work->spec) != MPI_SUCCESS) abort();
  MPI_Type_create_resized(MPI_INT, 0, 3 * (MPI_Aint)sizeof(int), &spread);
  MPI_Type_commit(&spread);
  static const int sizes[] = {1, 100, MOST_INTS};
  for (int how = 0; how < HOWS; ++how)
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
      if (!work->derived) exchange(work, sizes[k], MPI_INT, 1, MPI_INT, 1, how);
      if (!work->derived) continue;
      exchange(work, sizes[k], spread, 3, spread, 3, how);
      exchange(work, sizes[k], MPI_INT, 1, spread, 3, how);
      exchange(work, sizes[k], spread, 3, MPI_INT, 1, how);
    }
  MPI_Type_free(&spread);
  MPI_Comm_free(&work->comm);
  return NULL;
}

/* Runs `work` on a stack that has not been written. Returns how much of it then is. */
static size_t depth(Work *work) {
  unsigned char *const stack =
      mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  pthread_attr_t attributes;
  pthread_t thread;
  size_t untouched = 0;
  if (stack == MAP_FAILED) abort();
  memset(stack, PAINT, STACK_BYTES);
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, STACK_BYTES) || pthread_create(&thread, &attributes, run, work))
    abort();
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  while (untouched < STACK_BYTES && stack[untouched] == PAINT) ++untouched;
  munmap(stack, STACK_BYTES);
  return STACK_BYTES - untouched;
}

int main(int count, char **words) {
  const int inside = !strcmp(words[1], "inside"), derived = !strcmp(words[2], "derived");
  if (!inside) begin();
  for (int k = 3; k < count; ++k) {
    Work work = {inside && k == 3, derived, words[k], MPI_COMM_NULL, 0};
    const size_t bytes = depth(&work);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("stack %d %zu %s%s\n", rank, bytes, words[k], work.wrong ? " wrong" : "");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
