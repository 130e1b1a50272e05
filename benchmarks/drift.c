/* What keeps ranks in step where each message has its slot: an exchange by a table of `swapmeet topology --slots`.
 *
 *   drift TABLE BYTES STEP WINDOW BARRIER START_US MESSAGE_US
 *
 * STEP all: WINDOW slots begin together, and all of their messages end before the next ones begin.
 * STEP any: WINDOW messages of each direction are under way, and when any of a direction ends its next one begins.
 * BARRIER: an MPI_Barrier after so many slots (of STEP all a multiple of WINDOW); 0: none.
 * Each rank begins up to START_US late, and is up to MESSAGE_US late with each message that it sends (random, the same every time).
 * In simulations: swapmeet simulate --machine cscs-slimfly -n 72 native -- benchmarks/drift.c ... (docs/networks.md) */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  int rank, ranks, slots, any, window, barrier, bytes;
  double message_us;
  int *to, *from; /* of each slot; MPI_PROC_NULL: nobody */
  unsigned random;
} Exchange;

static void refuse(const char *problem) {
  fprintf(stderr, "drift: %s\n", problem);
  exit(2); /* SimGrid 3.32 ends with status 0 after MPI_Abort */
}

/* Sleeps up to so many microseconds. */
static void lag(Exchange *x, double most_us) {
  if (most_us <= 0) return;
  x->random = x->random * 1664525u + 1013904223u;
  usleep((useconds_t)(most_us * (x->random >> 8) / (1 << 24)));
}

/* The slots of a table (docs/networks.md): every rank reads all of it, and keeps its row and its column. */
static void read_slots(Exchange *x, const char *path) {
  FILE *file = fopen(path, "r");
  char word[64];
  if (!file) refuse("the table cannot be read");
  while (fscanf(file, "%63s", word) == 1 && strcmp(word, "bound") != 0) {
    if (strcmp(word, "ranks") == 0 && (fscanf(file, "%63s", word) != 1 || atoi(word) != x->ranks))
      refuse("the table is of another number of ranks");
    if (strcmp(word, "slots") == 0 && fscanf(file, "%d", &x->slots) != 1) refuse("the table has no slots");
  }
  if (fscanf(file, "%63s", word) != 1 || x->slots < 1) refuse("the table is no table of slots");
  x->to = malloc(2 * (size_t)x->slots * sizeof(int));
  x->from = x->to + x->slots;
  for (int slot = 0; slot < 2 * x->slots; ++slot) x->to[slot] = MPI_PROC_NULL;
  for (int source = 0; source < x->ranks; ++source)
    for (int target = 0; target < x->ranks; ++target) {
      if (fscanf(file, "%63s", word) != 1) refuse("the table is cut off");
      const int slot = atoi(word);
      if (strcmp(word, "-") == 0) continue;
      if (slot < 0 || slot >= x->slots) refuse("the table has a slot beyond its last");
      if (source == x->rank) x->to[slot] = target;
      if (target == x->rank) x->from[slot] = source;
    }
  fclose(file);
}

/* STEP all, from slot `first` to before `last`. */
static void in_batches(Exchange *x, char *send, char *receive, int first, int last, MPI_Request *requests) {
  for (int slot = first; slot < last; slot += x->window) {
    const int end = slot + x->window < last ? slot + x->window : last;
    int n = 0;
    for (int i = slot; i < end; ++i)
      MPI_Irecv(receive, x->bytes, MPI_CHAR, x->from[i], 1, MPI_COMM_WORLD, &requests[n++]);
    for (int i = slot; i < end; ++i) {
      lag(x, x->message_us);
      MPI_Isend(send, x->bytes, MPI_CHAR, x->to[i], 1, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  }
}

/* STEP any, from slot `first` to before `last`: requests[i] receives for i < window, and sends from there on. */
static void in_a_queue(Exchange *x, char *send, char *receive, int first, int last, MPI_Request *requests) {
  int next[2] = {first, first}; /* slot of the next receive, of the next send */
  int done = -1;                /* the request that ended; below 0: fill all of them */
  for (int i = 0; i < 2 * x->window; ++i) requests[i] = MPI_REQUEST_NULL;
  do {
    for (int i = done < 0 ? 0 : done; i < (done < 0 ? 2 * x->window : done + 1); ++i) {
      const int sends = i >= x->window;
      int *slot = &next[sends];
      while (*slot < last && (sends ? x->to : x->from)[*slot] == MPI_PROC_NULL) ++*slot;
      if (*slot >= last) continue;
      if (sends) {
        lag(x, x->message_us);
        MPI_Isend(send, x->bytes, MPI_CHAR, x->to[(*slot)++], 1, MPI_COMM_WORLD, &requests[i]);
      } else {
        MPI_Irecv(receive, x->bytes, MPI_CHAR, x->from[(*slot)++], 1, MPI_COMM_WORLD, &requests[i]);
      }
    }
    MPI_Waitany(2 * x->window, requests, &done, MPI_STATUS_IGNORE);
  } while (done != MPI_UNDEFINED);
}

int main(int argc, char **argv) {
  Exchange x = {.slots = 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &x.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &x.ranks);
  if (argc != 8) refuse("usage: drift TABLE BYTES STEP WINDOW BARRIER START_US MESSAGE_US");
  read_slots(&x, argv[1]);
  x.bytes = atoi(argv[2]), x.any = strcmp(argv[3], "any") == 0, x.window = atoi(argv[4]), x.barrier = atoi(argv[5]);
  x.message_us = atof(argv[7]), x.random = (unsigned)x.rank * 2654435761u + 1;
  if (x.bytes < 1 || x.window < 1 || x.barrier < 0 || (!x.any && strcmp(argv[3], "all") != 0))
    refuse("STEP is all or any, BYTES and WINDOW are at least 1, BARRIER at least 0");
  char *buffers = calloc(2, (size_t)x.bytes);
  MPI_Request *requests = malloc(2 * (size_t)x.window * sizeof(MPI_Request));
  const int together = x.barrier ? x.barrier : x.slots;
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime(), end, first;
  lag(&x, atof(argv[6]));
  for (int slot = 0; slot < x.slots; slot += together) {
    const int last = slot + together < x.slots ? slot + together : x.slots;
    if (slot > 0) MPI_Barrier(MPI_COMM_WORLD);
    (x.any ? in_a_queue : in_batches)(&x, buffers, buffers + x.bytes, slot, last, requests);
  }
  end = MPI_Wtime();
  MPI_Reduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  begin = end;
  MPI_Reduce(&begin, &end, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (x.rank == 0) printf("%.1f us\n", (end - first) * 1e6);
  free(requests), free(buffers), free(x.to);
  MPI_Finalize();
  return 0;
}
