#define _POSIX_C_SOURCE 200809L
#include "parts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "samples.h"

enum { NOBODY = -1 };

/* Where the ranks are: nodes are numbered by their first ranks. */
typedef struct {
  int *node, *place; /* of each rank: its node's first rank, and its own number there */
} Places;

static Places find_places(const World *world) {
  int mine[2] = {world->rank, 0};
  MPI_Comm_rank(world->node, &mine[1]);
  MPI_Bcast(&mine[0], 1, MPI_INT, 0, world->node);
  Places places = {malloc((size_t)world->ranks * sizeof(int)), malloc((size_t)world->ranks * sizeof(int))};
  MPI_Allgather(&mine[0], 1, MPI_INT, places.node, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgather(&mine[1], 1, MPI_INT, places.place, 1, MPI_INT, MPI_COMM_WORLD);
  return places;
}

/* How many nodes begin before that one. */
static int number_of(const Places *places, int node) {
  int number = 0;
  for (int i = 0; i < node; ++i) number += places->place[i] == 0;
  return number;
}

/* With whom this rank exchanges messages: the neighbour in its node, or the rank of its place in the neighbouring
 * node. */
static int find_partner(const World *world, bool between, int pairs) {
  const Places places = find_places(world);
  const int node = places.node[world->rank], place = places.place[world->rank];
  const int number = number_of(&places, node);
  int partner = NOBODY;
  for (int i = 0; i < world->ranks; ++i) {
    const bool near = places.node[i] == node && places.place[i] == (place ^ 1) && place / 2 < pairs;
    const bool far = places.place[i] == place && place < pairs && number_of(&places, places.node[i]) == (number ^ 1);
    if (between ? far : near) partner = i;
  }
  free(places.node);
  free(places.place);
  return partner;
}

typedef struct {
  double seconds, posting;
} Spent;

static Spent exchange(int partner, char *send, char *receive, int bytes, int window, int calls, MPI_Request *requests) {
  Spent spent = {0};
  const double begin = now();
  for (int call = 0; call < calls; ++call) {
    const double posting = now();
    for (int i = 0; i < window; ++i)
      MPI_Irecv(receive + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < window; ++i)
      MPI_Isend(send + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[window + i]);
    spent.posting += now() - posting;
    MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
  }
  spent.seconds = now() - begin;
  return spent;
}

/* All ranks meet; those that come early sleep, so that they take no core from others. */
static void rest(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  }
}

void answer_messages(const World *world, bool between, int pairs, int bytes, int window, int calls) {
  char why[TEXT] = "";
  const int partner = find_partner(world, between, pairs);
  int pair = partner != NOBODY, paired = 0;
  MPI_Allreduce(&pair, &paired, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (!paired) return answer(world, "refused %s", between ? "all ranks are on one node" : "no two ranks share a node");
  const int64_t span = pair ? (int64_t)window * bytes : 0;
  if (!agreed(world, memory_suffices(world, 2 * span, why, sizeof why), why, sizeof why))
    return answer(world, "refused %s", why);
  char *const send = calloc((size_t)span + 1, 1), *const receive = malloc((size_t)span + 1);
  MPI_Request *const requests = malloc(2 * (size_t)window * sizeof *requests);
  if (agreed(world, send && receive && requests, why, sizeof why)) {
    Spent spent = {0};
    meet(world);
    if (pair) exchange(partner, send, receive, bytes, window, 2, requests); /* touches all pages */
    if (pair) spent = exchange(partner, send, receive, bytes, window, calls, requests);
    rest();
    double mine[2] = {spent.seconds / calls, spent.posting / calls / window}, most[2];
    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    answer(world, "ok %.9e %.9e", most[0], most[1]);
  } else {
    answer(world, "refused there is too little memory");
  }
  free(requests);
  free(receive);
  free(send);
}

/* Pieces with gaps as large as themselves. */
static MPI_Datatype make_type(int pieces, int bytes) {
  MPI_Datatype type;
  MPI_Aint *const places = malloc((size_t)pieces * sizeof *places);
  for (int i = 0; i < pieces; ++i) places[i] = (MPI_Aint)2 * i * bytes;
  MPI_Type_create_hindexed_block(pieces, bytes, places, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  free(places);
  return type;
}

static void gather(char *to, const char *from, int pieces, int bytes) {
  for (int i = 0; i < pieces; ++i)
    memcpy(to + (size_t)i * (size_t)bytes, from + 2 * (size_t)i * (size_t)bytes, (size_t)bytes);
}

void answer_copies(const World *world, bool datatype, int pieces, int bytes, int calls) {
  char why[TEXT] = "";
  const int64_t span = (int64_t)pieces * bytes;
  if (span > INT32_MAX || !agreed(world, memory_suffices(world, 3 * span, why, sizeof why), why, sizeof why))
    return answer(world, "refused %s", why[0] ? why : "more than 2 GiB");
  char *const from = malloc(2 * (size_t)span + 1), *const to = malloc((size_t)span + 1);
  if (!agreed(world, from && to, why, sizeof why)) {
    answer(world, "refused there is too little memory");
  } else {
    MPI_Datatype type = make_type(pieces, bytes);
    double begin = 0;
    memset(from, 1, 2 * (size_t)span);
    for (int call = -1; call < calls; ++call) { /* the first touches all pages */
      if (call == 0) meet(world);
      if (call == 0) begin = now();
      int at = 0;
      if (datatype) MPI_Pack(from, 1, type, to, (int)span, &at, MPI_COMM_WORLD);
      else gather(to, from, pieces, bytes);
      __asm__ volatile("" : : "r"(to) : "memory"); /* every copy is made */
    }
    double mine = (now() - begin) / calls, most = 0;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    answer(world, "ok %.9e", most);
    MPI_Type_free(&type);
  }
  free(to);
  free(from);
}
