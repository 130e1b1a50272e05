/* trials CALLS [announced]: many calls of each kind on two communicators, by turns, with every byte checked; announced
 * by swapmeet_set_algorithm(). Prints "trials: right". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5000, POISON = 0xA5 };

typedef struct {
  MPI_Comm comm;
  int rank, ranks;
  unsigned char *send, *receive;
  int *counts, *displacements, *from_counts, *from_displacements;
} Group;

static unsigned char value(int call, int source, int destination, int index) {
  return (unsigned char)(call * 3 + source * 31 + destination * 17 + index);
}

/* Of blocks of unequal size; half of the calls have other sizes. */
static int size(int call, int source, int destination) {
  return (source * 7 + destination * 5 + call % 2) % 9 == 0 ? 0 : 100 * ((source + destination) % 4) + 8 + call % 2;
}

static Group open_group(MPI_Comm comm) {
  Group group = {comm, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL};
  MPI_Comm_rank(comm, &group.rank);
  MPI_Comm_size(comm, &group.ranks);
  const size_t ranks = (size_t)group.ranks;
  group.send = malloc(ranks * MOST);
  group.receive = malloc(ranks * MOST);
  group.counts = malloc(4 * ranks * sizeof(int));
  group.displacements = group.counts + ranks;
  group.from_counts = group.displacements + ranks;
  group.from_displacements = group.from_counts + ranks;
  return group;
}

static void announce(MPI_Comm comm) {
  int (*const set)(MPI_Comm, const char *) =
      (int (*)(MPI_Comm, const char *))dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  if (set) set(comm, "auto");
}

static void close_group(Group *group) {
  free(group->send), free(group->receive), free(group->counts);
  MPI_Comm_free(&group->comm);
}

static int wrong_in(const unsigned char *block, int bytes, int call, int source, int destination) {
  int wrong = 0;
  for (int k = 0; k < bytes; ++k) wrong += block[k] != value(call, source, destination, k);
  return wrong;
}

static int equal(Group *group, int call, int bytes, int in_place) {
  unsigned char *const out = in_place ? group->receive : group->send;
  int wrong = 0;
  memset(group->receive, POISON, (size_t)group->ranks * MOST);
  for (int peer = 0; peer < group->ranks; ++peer)
    for (int k = 0; k < bytes; ++k) out[peer * bytes + k] = value(call, group->rank, peer, k);
  MPI_Alltoall(in_place ? MPI_IN_PLACE : group->send, bytes, MPI_BYTE, group->receive, bytes, MPI_BYTE, group->comm);
  for (int peer = 0; peer < group->ranks; ++peer)
    wrong += wrong_in(group->receive + peer * bytes, bytes, call, peer, group->rank);
  return wrong + (group->receive[group->ranks * bytes] != POISON);
}

static int unequal(Group *group, int call) {
  int sent = 0, received = 0, wrong = 0;
  memset(group->receive, POISON, (size_t)group->ranks * MOST);
  for (int peer = 0; peer < group->ranks; ++peer) {
    group->counts[peer] = size(call, group->rank, peer);
    group->from_counts[peer] = size(call, peer, group->rank);
    group->displacements[peer] = sent;
    group->from_displacements[peer] = received;
    for (int k = 0; k < group->counts[peer]; ++k) group->send[sent + k] = value(call, group->rank, peer, k);
    sent += group->counts[peer];
    received += group->from_counts[peer] + 1; /* a gap */
  }
  MPI_Alltoallv(group->send, group->counts, group->displacements, MPI_BYTE, group->receive, group->from_counts,
                group->from_displacements, MPI_BYTE, group->comm);
  for (int peer = 0; peer < group->ranks; ++peer) {
    const unsigned char *const block = group->receive + group->from_displacements[peer];
    wrong += wrong_in(block, group->from_counts[peer], call, peer, group->rank) +
             (block[group->from_counts[peer]] != POISON);
  }
  return wrong;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0, all_wrong = 0;
  MPI_Comm comms[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
  Group groups[] = {open_group(comms[0]), open_group(comms[1])};
  if (argc > 2) announce(comms[0]), announce(comms[1]);
  for (int call = 0; call < atoi(argv[1]); ++call)
    for (int g = 0; g < 2; ++g) {
      static const int bytes[] = {8, 200, 4096, 8}; /* and sometimes others of these classes */
      for (int k = 0; k < 4; ++k) wrong += equal(&groups[g], call, call % 10 == 9 ? bytes[k] - 1 : bytes[k], k == 3);
      wrong += unequal(&groups[g], call);
    }
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(all_wrong == 0 ? "trials: right" : "trials: WRONG");
  for (int g = 0; g < 2; ++g) close_group(&groups[g]);
  MPI_Finalize();
  return 0;
}
