/* Exchanges of which some buffers are memory of a device, whose driver (device_driver.c) is loaded meanwhile. Does as
 * it is told, and checks every byte, also of gaps.
 *
 *   devices DRIVER [WORD | WORD=R]...    R: a rank; -1: all
 *     threads load=R                     as first words: before MPI_Init
 *     load=R start=R                     loads the driver; initialises it
 *     host=R send=R receive=R device=R managed=R   where buffers lie from now on: on the host, what is sent or received
 *                                                  or
 *                                        both on the device, both in memory that host and device share
 *     calls=N all=N                      so many MPI_Alltoall; so many of each kind of exchange
 *     mixed=N                            an MPI_Alltoallw of N ints a block, some on the host, some on the device
 *     dense=R gaps=R                     an MPI_Alltoallv in which rank R only receives, into elements without or with
 *                                        gaps, and must get an error; the others must not
 *     other=R use=R                      loads some other library; or those that Swapmeet would load last
 *     dup                                another communicator
 *     copies                             says how many copies there were on all ranks */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_driver.h"

enum kind { equal, in_place, unequal, with_gaps, from_gaps, absolute, columns, nothing, kinds };
enum place { on_host, on_device, shared };
static const int step = 4; /* ints from one element to the next, if it has gaps; two of them are data */

static const char *path;
static __typeof__(device_start) *start;
static __typeof__(device_allocate) *allocate;
static __typeof__(device_free_all) *free_all;
static __typeof__(device_copy) *copy;
static __typeof__(device_copies) *copies;
static enum place send_place, receive_place;

static int value(int source, int destination, int index) { return 1000003 * source + 1009 * destination + index; }

static void must(int right, const char *what, int kind) {
  if (right) return;
  fprintf(stderr, "devices: %s (kind %d)\n", what, kind);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void load(void) {
  void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "devices: %s\n", dlerror()), exit(4);
  *(void **)&start = dlsym(library, "device_start"), *(void **)&allocate = dlsym(library, "device_allocate");
  *(void **)&free_all = dlsym(library, "device_free_all"), *(void **)&copy = dlsym(library, "device_copy");
  *(void **)&copies = dlsym(library, "device_copies");
}

/* One side of an exchange: the buffer, and what is to be in it. */
struct side {
  int *image, *buffer, *counts, *places;
  MPI_Datatype type;
  size_t bytes;
  enum place place;
};

static struct side make_side(int ranks, int n, enum kind kind, int gaps, enum place place) {
  const size_t ints = (size_t)ranks * (size_t)(n + 1) * (size_t)step + 1;
  struct side side = {calloc(ints, sizeof(int)), NULL, NULL, NULL, MPI_INT, ints * sizeof(int), place};
  side.buffer = place == on_host ? malloc(side.bytes) : (int *)allocate(side.bytes, place == shared);
  side.counts = calloc(2 * (size_t)ranks, sizeof(int)), side.places = side.counts + ranks;
  for (size_t i = 0; i < ints; ++i) side.image[i] = -1 - (int)i;
  if (gaps) {
    MPI_Datatype vector;
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, step * (int)sizeof(int), &side.type);
    MPI_Type_free(&vector);
  } else if (kind == absolute) {
    const int one = 1;
    MPI_Aint address;
    MPI_Get_address(side.buffer, &address);
    MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &side.type);
  } else if (kind == columns) {
    MPI_Datatype column;
    MPI_Type_vector(n, 1, ranks, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, (int)sizeof(int), &side.type);
    MPI_Type_free(&column);
  }
  if (side.type != MPI_INT) MPI_Type_commit(&side.type);
  return side;
}

static void free_side(struct side *side) {
  if (side->type != MPI_INT) MPI_Type_free(&side->type);
  if (side->place == on_host) free(side->buffer);
  free(side->image), free(side->counts);
}

static void transfer(const struct side *side, void *to, const void *from) {
  if (side->place == on_host) memcpy(to, from, side->bytes);
  else copy(to, from, side->bytes);
}

/* Writes the block between `source` and `destination` into its place at `side`, `n` being ints of data: one behind the
 * other, with gaps, or in a column of a matrix of so many `columns`. */
static void fill(struct side *side, int peer, int source, int destination, int n, int gaps, int columns) {
  for (int i = 0; i < n; ++i) {
    const int behind = columns ? columns * i + peer : side->places[peer] + i;
    side->image[gaps ? (side->places[peer] + i / 2) * step + i % 2 * 2 : behind] = value(source, destination, i);
  }
}

static void exchange(MPI_Comm comm, enum kind kind, int n) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  const int vector = kind == unequal || kind == with_gaps || kind == from_gaps, empty = kind == nothing;
  const int width = kind == columns ? ranks : 0, count = empty ? 0 : kind == columns ? 1 : n;
  const int gaps_out = kind == with_gaps || kind == from_gaps, gaps_in = kind == with_gaps;
  struct side out = make_side(ranks, n, kind, gaps_out, send_place),
              in = make_side(ranks, n, kind, gaps_in, receive_place);
  for (int peer = 0; peer < ranks; ++peer) {
    out.places[peer] = in.places[peer] = vector ? (ranks - 1 - peer) * (n + 1) : peer * n;
    const int sent = empty ? 0 : vector ? 2 * ((rank + 2 * peer) % (n / 2 + 1)) : n;
    const int received = empty ? 0 : vector ? 2 * ((peer + 2 * rank) % (n / 2 + 1)) : n;
    out.counts[peer] = gaps_out ? sent / 2 : sent, in.counts[peer] = gaps_in ? received / 2 : received;
    fill(kind == in_place ? &in : &out, peer, rank, peer, sent, gaps_out, width);
  }
  transfer(&out, out.buffer, out.image);
  transfer(&in, in.buffer, in.image);
  void *const from = kind == in_place ? MPI_IN_PLACE : kind == absolute ? MPI_BOTTOM : out.buffer;
  void *const to = kind == absolute ? MPI_BOTTOM : in.buffer;
  if (vector) MPI_Alltoallv(from, out.counts, out.places, out.type, to, in.counts, in.places, in.type, comm);
  else MPI_Alltoall(from, count, out.type, to, count, in.type, comm);
  for (int peer = 0; peer < ranks; ++peer)
    fill(&in, peer, peer, rank, gaps_in ? 2 * in.counts[peer] : in.counts[peer], gaps_in, width);
  int *const found = malloc(in.bytes);
  transfer(&out, found, out.buffer);
  must(!memcmp(found, out.image, out.bytes), "what was sent has changed", kind);
  transfer(&in, found, in.buffer);
  must(!memcmp(found, in.image, in.bytes), "wrong data", kind);
  free(found), free_side(&out), free_side(&in);
  if (free_all) free_all();
}

/* Blocks whose types hold their addresses: on a rank with a driver every other one lies on the device, far from those on
 * the host. */
static void exchange_mixed(MPI_Comm comm, int n) {
  enum { most_ranks = 16 };
  int rank, ranks, counts[most_ranks], places[most_ranks] = {0};
  int *blocks[2][most_ranks];
  MPI_Datatype types[2][most_ranks];
  const size_t bytes = (size_t)n * sizeof(int);
  int *const image = malloc(bytes), *const found = malloc(bytes);
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < 2 * ranks; ++i) {
    const int received = i / ranks, peer = i % ranks, there = allocate && peer % 2;
    int *const block = there ? (int *)allocate(bytes, 0) : malloc(bytes);
    MPI_Aint address;
    MPI_Get_address(block, &address);
    for (int k = 0; k < n; ++k) image[k] = received ? -1 : value(rank, peer, k);
    there ? (void)copy(block, image, bytes) : (void)memcpy(block, image, bytes);
    MPI_Type_create_hindexed(1, &n, &address, MPI_INT, &types[received][peer]);
    MPI_Type_commit(&types[received][peer]);
    blocks[received][peer] = block, counts[peer] = 1;
  }
  MPI_Alltoallw(MPI_BOTTOM, counts, places, types[0], MPI_BOTTOM, counts, places, types[1], comm);
  for (int i = 0; i < 2 * ranks; ++i) {
    const int received = i / ranks, peer = i % ranks, there = allocate && peer % 2;
    int *const block = blocks[received][peer];
    for (int k = 0; k < n; ++k) image[k] = received ? value(peer, rank, k) : value(rank, peer, k);
    there ? (void)copy(found, block, bytes) : (void)memcpy(found, block, bytes);
    must(!memcmp(found, image, bytes), "wrong data on host and device", received);
    if (!there) free(block);
    MPI_Type_free(&types[received][peer]);
  }
  free(image), free(found);
  if (free_all) free_all();
}

/* Every rank sends two ints to each other one, but for `receiver`, whose memory is not brought to the host and back. */
static void exchange_to(MPI_Comm comm, int receiver, int gaps) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  const int here = rank == receiver, spread = here && gaps;
  struct side out = make_side(ranks, 2, unequal, 0, on_host),
              in = make_side(ranks, 2, unequal, spread, here ? receive_place : on_host);
  for (int peer = 0; peer < ranks; ++peer) {
    out.places[peer] = 2 * peer, in.places[peer] = spread ? peer : 2 * peer;
    out.counts[peer] = here ? 0 : 2, in.counts[peer] = peer == receiver ? 0 : spread ? 1 : 2;
    for (int i = 0; i < 2; ++i) out.buffer[2 * peer + i] = value(rank, peer, i);
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int error =
      MPI_Alltoallv(out.buffer, out.counts, out.places, out.type, in.buffer, in.counts, in.places, in.type, comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  must(here == (error != MPI_SUCCESS), "an error of a wrong rank", unequal);
  for (int i = 0; i < 2 * ranks && !here; ++i)
    must(i / 2 == receiver || in.buffer[i] == value(i / 2, rank, i % 2), "wrong data beside an error", unequal);
  free_side(&out), free_side(&in);
  if (free_all) free_all();
}

static int rank_of_world(void) {
  const char *text = getenv("PMI_RANK");
  if (!text) text = getenv("OMPI_COMM_WORLD_RANK");
  return text ? atoi(text) : -1;
}

/* Words about one rank. */
static void obey(const char *word) {
  static const struct {
    const char *name;
    enum place send, receive;
  } places[] = {{"host", on_host, on_host},
                {"send", on_device, on_host},
                {"receive", on_host, on_device},
                {"device", on_device, on_device},
                {"managed", shared, shared}};
  const size_t length = strcspn(word, "=");
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
    if (!strncmp(word, places[i].name, length)) send_place = places[i].send, receive_place = places[i].receive;
  if (!strncmp(word, "load", length)) load();
  if (!strncmp(word, "start", length)) start();
  if (!strncmp(word, "other", length)) dlopen("libutil.so.1", RTLD_NOW), dlopen("libthread_db.so.1", RTLD_NOW);
  if (!strncmp(word, "use", length)) dlopen("libanl.so.1", RTLD_NOW), dlopen("libBrokenLocale.so.1", RTLD_NOW);
}

int main(int argc, char **argv) {
  const int me = rank_of_world();
  int level = MPI_THREAD_SINGLE, next = 2, total = 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  path = argv[1];
  for (; next < argc && (!strncmp(argv[next], "load=", 5) || !strcmp(argv[next], "threads")); ++next) {
    if (argv[next][0] == 't') level = MPI_THREAD_MULTIPLE;
    else if (atoi(argv[next] + 5) == -1 || atoi(argv[next] + 5) == me) obey(argv[next]);
  }
  MPI_Init_thread(&argc, &argv, level, &level);
  for (; next < argc; ++next) {
    const char *const word = argv[next], *equals = strchr(word, '=');
    const int n = equals ? atoi(equals + 1) : 0;
    if (!strncmp(word, "calls=", 6))
      for (int i = 0; i < n; ++i) exchange(comm, equal, 6);
    else if (!strncmp(word, "all=", 4))
      for (int i = 0; i < n * kinds; ++i) exchange(comm, (enum kind)(i % kinds), i % 2 ? 6 : 1000);
    else if (!strncmp(word, "mixed=", 6)) exchange_mixed(comm, n);
    else if (!strncmp(word, "dense=", 6) || !strncmp(word, "gaps=", 5)) exchange_to(comm, n, word[0] == 'g');
    else if (!strcmp(word, "dup")) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (!strcmp(word, "copies")) {
      const int mine = copies ? copies() : 0;
      MPI_Reduce(&mine, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
      if (me == 0) printf("devices: %d copies\n", total);
    } else if (n == -1 || n == me) obey(word);
  }
  if (me == 0) puts("devices: done");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
