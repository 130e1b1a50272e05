/* All-to-alls beside what else MPI and the system offer: windows, communicators of every origin, many of them, memory of every
 * kind (standard.h). */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "standard.h"

/* 12.5.3, 12.7.3: an access to a window needs no call of its target but one that lets communication go on: a rank that waits in an
 * all-to-all. The others lock its window, add to it and unlock before they join. */
static void passive_target(void) {
  for (int form = 0; form < (HAS_PERSISTENT ? FORMS : 2); ++form)
    for (int kind = 0; kind < KINDS; ++kind) {
      int sum = 0, one = 1, *base = NULL;
      MPI_Win window;
      MPI_Comm comm;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &window);
      *base = 0;
      MPI_Barrier(comm);
      for (int round = 0; round < 3; ++round) {
        const int target = round % ranks;
        All x = all_open(comm, kind, form, 0);
        if (rank != target) {
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
          MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, window);
          MPI_Win_unlock(target, window);
        }
        all_once(&x, round);
        all_close(&x);
      }
      MPI_Barrier(comm);
      MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
      sum = *base;
      MPI_Win_unlock(rank, window);
      const int right = (rank < 3 ? (2 - rank) / ranks + 1 : 0) * (ranks - 1);
      expect(sum == right, "form %d, kind %d: the window has %d, not %d", form, kind, sum, right);
      MPI_Win_free(&window);
      MPI_Comm_free(&comm);
    }
}

/* 12.2.3: blocks lie in a window that the ranks of a node share, also in the part of another rank; epochs are open meanwhile. */
static void shared_window(void) {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int me, peers, *mine = NULL;
  MPI_Comm_rank(node, &me), MPI_Comm_size(node, &peers);
  for (int size = 1; size <= 40000; size *= 200) {
    MPI_Win window;
    MPI_Aint bytes;
    int unit, *next = NULL;
    const int all = size * peers;
    MPI_Win_allocate_shared(2 * all * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &window);
    MPI_Win_shared_query(window, (me + 1) % peers, &bytes, &unit, &next);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int round = 0; round < 3; ++round) {
      /* sends from its own part, receives into the second half of that of the next rank */
      for (int i = 0; i < all; ++i) mine[i] = block_value(round, me, i / size, i % size % ROOM), next[all + i] = POISON;
      MPI_Win_sync(window), MPI_Barrier(node);
      MPI_Alltoall(mine, size, MPI_INT, next + all, size, MPI_INT, node);
      MPI_Win_sync(window);
      for (int i = 0; i < all; ++i)
        expect(next[all + i] == block_value(round, i / size, me, i % size % ROOM), "round %d: %d is %d", round, i,
               next[all + i]);
      for (int i = 0; i < all; ++i) next[all + i] = block_value(round, me, i / size, i % size % ROOM);
      MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, next + all, size, MPI_INT, node);
      for (int i = 0; i < all; ++i)
        expect(next[all + i] == block_value(round, i / size, me, i % size % ROOM), "in place, round %d: %d is %d",
               round, i, next[all + i]);
      MPI_Barrier(node);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
  MPI_Comm_free(&node);
}

/* 7.4 to 7.6: communicators of every origin. */
static void use(MPI_Comm comm) {
  FOR_EACH_ALL(kind, form, in_place) {
    All x = all_open(comm, kind, form, in_place);
    for (int round = 0; round < 2; ++round) all_once(&x, round);
    all_close(&x);
  }
}

static void origins(void) {
  MPI_Comm comm, half, inter, other;
  MPI_Info info;
  use(MPI_COMM_SELF);
  MPI_Comm_dup(MPI_COMM_SELF, &comm), use(comm), MPI_Comm_free(&comm);
  MPI_Info_create(&info), MPI_Info_set(info, "mpi_assert_no_any_source", "true");
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true"), MPI_Info_set(info, "mpi_assert_exact_length", "true");
  MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm), use(comm);
  MPI_Comm_set_info(comm, info), use(comm), MPI_Comm_free(&comm);
  MPI_Info_free(&info);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &comm), use(comm),
      MPI_Comm_free(&comm);
  for (int first = 1; first < ranks; ++first)
    for (int high = 0; high < 2; ++high) {
      const int side = rank >= first;
      MPI_Comm_split(MPI_COMM_WORLD, side, -rank, &half);
      MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? first - 1 : ranks - 1, 3, &inter);
      MPI_Intercomm_merge(inter, side == high, &comm);
      use(comm), use(half);
      MPI_Comm_dup(inter, &other), MPI_Comm_free(&other);
      MPI_Comm_free(&comm), MPI_Comm_free(&inter), MPI_Comm_free(&half);
    }
  MPI_Group group, reversed;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  int range[1][3] = {{ranks - 1, 0, -1}};
  MPI_Group_range_incl(group, 1, range, &reversed);
  MPI_Comm_create(MPI_COMM_WORLD, reversed, &comm), use(comm), MPI_Comm_free(&comm);
#if MPI_VERSION >= 4
  MPI_Comm_create_from_group(reversed, "standard", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  use(comm), MPI_Comm_free(&comm);
#endif
  MPI_Group_free(&group), MPI_Group_free(&reversed);
  int sizes[2] = {0, 0}, periods[2] = {1, 0};
  MPI_Dims_create(ranks, 2, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 1, &comm), use(comm), MPI_Comm_free(&comm);
}

/* 7.2: there may be many communicators at a time, more than have numbers of the library's, each of them used. */
static void many(void) {
  enum { MANY = 1100 };
  static MPI_Comm comms[MANY];
  for (int i = 0; i < MANY; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < MANY; ++i) {
    All x = all_open(comms[i], i % KINDS, BLOCKING, i / KINDS % 2);
    all_once(&x, i % 7), all_close(&x);
  }
  for (int i = MANY - 1; i >= 0; i -= 9) {
    All x = all_open(comms[i], i % KINDS, STARTED, i / KINDS % 2), y = all_open(comms[i], EQUAL, PERSISTENT, 0);
    all_once(&x, i % 7), all_close(&x);
    if (HAS_PERSISTENT) all_once(&y, i % 7);
    all_close(&y);
  }
  for (int i = 0; i < MANY; ++i) MPI_Comm_free(&comms[(i * 7) % MANY]);
}

/* 2.5: buffers may lie in any memory: read-only, of a file, shared, never touched, mapped anew at an address that was another's. */
static void memory(void) {
  const size_t block = 30000, bytes = block * sizeof(int) * (size_t)ranks;
  char name[64];
  snprintf(name, sizeof name, "/tmp/swapmeet-standard-%d-%d", getpid(), rank);
  const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  unlink(name);
  if (ftruncate(file, (off_t)bytes) != 0) perror("ftruncate");
  int *const place = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int *const in_place = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int round = 0; round < 12; ++round) {
    const int kind = (round + rank) % 4, count = round % 3 == 2 ? 2 : (int)block; /* ranks have other memory */
    const int flags[4] = {MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED, MAP_PRIVATE, MAP_SHARED | MAP_ANONYMOUS};
    const int anonymous = flags[kind] & MAP_ANONYMOUS;
    int *const out = mmap(place, bytes, PROT_READ | PROT_WRITE, flags[kind] | MAP_FIXED, anonymous ? -1 : file, 0);
    int *const in = mmap(in_place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (int i = 0; i < count * ranks; ++i) out[i] = block_value(round, rank, i / count, i % count % ROOM);
    mprotect(out, bytes, PROT_READ);
    MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < count * ranks; ++i)
      expect(in[i] == block_value(round, i / count, rank, i % count % ROOM), "round %d: %d is %d", round, i, in[i]);
    munmap(out, bytes), munmap(in, bytes);
    mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    mmap(in_place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    MPI_Alltoall(place, count, MPI_INT, in_place, count, MPI_INT, MPI_COMM_WORLD); /* zeros that nobody has touched */
    for (int i = 0; i < count * ranks; ++i)
      expect(in_place[i] == 0, "round %d: %d is %d, not 0", round, i, in_place[i]);
  }
  munmap(place, bytes), munmap(in_place, bytes), close(file);
}

/* A program may have no file descriptor left, from before the first call on. */
static void no_descriptors(void) {
  struct rlimit before, none;
  getrlimit(RLIMIT_NOFILE, &before);
  none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &none);
  All x = all_open(MPI_COMM_WORLD, EQUAL, BLOCKING, 0), y = all_open(MPI_COMM_WORLD, VARYING, STARTED, 0);
  for (int round = 0; round < 4; ++round) all_once(&x, round), all_once(&y, round);
  setrlimit(RLIMIT_NOFILE, &before);
  for (int round = 0; round < 4; ++round) all_once(&x, round), all_once(&y, round);
  all_close(&x), all_close(&y);
}

static const Case cases[] = {
    {"no-descriptors", 1, no_descriptors},
    {"passive-target", 2, passive_target},
    {"shared-window", 1, shared_window},
    {"origins", 1, origins},
    {"memory", 1, memory},
    {"many", 1, many},
};

int main(int argc, char **argv) { return run_cases(cases, sizeof cases / sizeof *cases, argc, argv); }
