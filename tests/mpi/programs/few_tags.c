/* few_tags: persistent requests while the MPI says that it has a few tags only, so that the library's run out of them, as they do
 * after millions of requests else. A request that lives long keeps its tag: while others are made and freed, and a later one ends
 * before it. Prints "few_tags: right". With -DPRELOADED -shared: what is to be preloaded behind libswapmeet.so for that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TAGS = 8, MADE = 3 * TAGS, ALIVE = 2 * TAGS, MOST_RANKS = 8, LIMIT_S = 20 };

#ifdef PRELOADED

static int few;

/* From when on there are few: the library has counted by then what it wants for messages. */
void have_few_tags(int wanted) { few = wanted; }

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *found) {
  static int (*next)(MPI_Comm, int, void *, int *), most = TAGS;
  void *const symbol = dlsym(RTLD_NEXT, "PMPI_Comm_get_attr");
  memcpy(&next, &symbol, sizeof next);
  const int error = next(comm, keyval, value, found);
  if (few && keyval == MPI_TAG_UB) *(int **)value = &most, *found = 1;
  return error;
}

#else

static int rank, ranks;

typedef struct {
  int send[MOST_RANKS], receive[MOST_RANKS];
  MPI_Request request;
} Exchange;

static void make(Exchange *exchange) {
  MPI_Alltoall_init(exchange->send, 1, MPI_INT, exchange->receive, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &exchange->request);
}

static void start(Exchange *exchange, int number) {
  for (int i = 0; i < ranks; ++i) exchange->send[i] = 100 * number + 10 * rank + i, exchange->receive[i] = -1;
  MPI_Start(&exchange->request);
}

/* Blocks that are wrong when it is over; it must be within the limit. */
static int finish(Exchange *exchange, int number) {
  int over = 0, wrong = 0;
  for (const double begin = MPI_Wtime(); !over && MPI_Wtime() < begin + LIMIT_S;)
    MPI_Test(&exchange->request, &over, MPI_STATUS_IGNORE);
  if (!over) {
    printf("few_tags: rank %d waits for exchange %d for ever\n", rank, number);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int i = 0; i < ranks; ++i) wrong += exchange->receive[i] != 100 * number + 10 * i + rank;
  return wrong;
}

/* A request that is under way while each of the others begins and ends. */
static int keep_one(void) {
  Exchange kept, other;
  int wrong = 0;
  make(&kept);
  for (int i = 0; i < MADE; ++i) {
    make(&other);
    if (rank != ranks - 1) start(&kept, 2 * i);
    start(&other, 2 * i + 1);
    wrong += finish(&other, 2 * i + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) start(&kept, 2 * i);
    wrong += finish(&kept, 2 * i);
    MPI_Request_free(&other.request);
  }
  MPI_Request_free(&kept.request);
  return wrong;
}

/* More than there are tags. */
static int have_many(void) {
  static Exchange all[ALIVE];
  int wrong = 0;
  for (int i = 0; i < ALIVE; ++i) make(&all[i]);
  for (int i = 0; i < ALIVE; ++i) start(&all[i], i);
  for (int i = ALIVE - 1; i >= 0; --i) wrong += finish(&all[i], i);
  for (int i = 0; i < ALIVE; ++i) MPI_Request_free(&all[i].request);
  return wrong;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int send[MOST_RANKS] = {0}, receive[MOST_RANKS], wrong, all = 0;
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  void (*have_few_tags)(int);
  *(void **)&have_few_tags = dlsym(RTLD_DEFAULT, "have_few_tags");
  have_few_tags(1);
  wrong = keep_one() + have_many();
  have_few_tags(0);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(all == 0 ? "few_tags: right" : "few_tags: WRONG");
  MPI_Finalize();
  return 0;
}

#endif
