/* What MPI says of all-to-alls that block, and of how they get along with other communication (standard.h). */
#include "standard.h"

/* 5.8: on an intercommunicator the amount that goes one way need not be that of the way back: none of one of them, say. */
static void one_way(void) {
  enum { MOST = 5 };
  static const int amounts[][2] = {{3, 0}, {0, 2}, {1, 4}, {0, 0}, {5, 5}};
  for (int first = 1; first < ranks; ++first) {
    MPI_Comm half, inter;
    const int side = rank >= first;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : first, 3, &inter);
    const int peers = side ? first : ranks - first, start = side ? 0 : first;
    for (int form = 0; form < (HAS_PERSISTENT ? FORMS : 2); ++form)
      for (int kind = 0; kind < KINDS; ++kind)
        for (size_t i = 0; i < sizeof amounts / sizeof *amounts; ++i) {
          const int out = amounts[i][side], in = amounts[i][!side];
          int sent[64 * MOST], got[64 * MOST], outs[64], ins[64], places[64], bytes[64];
          MPI_Datatype types[64];
          for (int p = 0; p < peers; ++p) {
            outs[p] = out, ins[p] = in, places[p] = p * MOST, bytes[p] = p * MOST * (int)sizeof(int),
            types[p] = MPI_INT;
            for (int k = 0; k < MOST; ++k) sent[p * MOST + k] = got[p * MOST + k] = POISON;
          }
          for (int p = 0; p < peers; ++p)
            for (int k = 0; k < out; ++k)
              sent[p * (kind == EQUAL ? out : MOST) + k] = block_value(0, rank, start + p, k);
          const Side sends = {out ? sent : NULL, out, MPI_INT, outs, places, bytes, types};
          const Side receives = {in ? got : NULL, in, MPI_INT, ins, places, bytes, types};
          call_once(inter, kind, form, &sends, &receives);
          for (int p = 0; p < peers; ++p)
            for (int k = 0; k < in; ++k)
              expect(got[p * (kind == EQUAL ? in : MOST) + k] == block_value(0, start + p, rank, k),
                     "form %d, kind %d, %d out and %d in: element %d from %d is %d", form, kind, out, in, k, start + p,
                     got[p * (kind == EQUAL ? in : MOST) + k]);
        }
    MPI_Comm_free(&inter), MPI_Comm_free(&half);
  }
}

/* 5.8: amounts of data are equal pair by pair, type maps need not be: neither on the two sides of a rank nor from rank to rank, in
 * place, too. */
static void maps_differ(void) {
  MPI_Datatype pair, spread, wide, back;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_vector(2, 1, 2, MPI_INT, &spread);                 /* x.x */
  MPI_Type_create_resized(spread, 0, 4 * sizeof(int), &wide); /* x.x. */
  const int lengths[2] = {1, 1}, places[2] = {1, 0};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &back); /* backwards */
  MPI_Datatype const types[4] = {MPI_INT, pair, wide, back};
  static const int counts[4] = {2, 1, 1, 1}, steps[4][2] = {{0, 1}, {0, 1}, {0, 2}, {1, 0}}, extents[4] = {2, 2, 4, 2};
  for (int i = 1; i < 4; ++i) MPI_Type_commit((MPI_Datatype[]){pair, pair, wide, back} + i);
  for (int turn = 0; turn < 16; ++turn)
    for (int in_place = 0; in_place < 2; ++in_place)
      for (int started = 0; started < 2; ++started) {
        const int s = (turn + rank) % 4, r = in_place ? s : (turn / 4 + 3 * rank) % 4;
        int *const out = malloc((size_t)ranks * 4 * sizeof(int)), *const in = malloc((size_t)ranks * 4 * sizeof(int));
        MPI_Request request = MPI_REQUEST_NULL;
        for (int i = 0; i < 4 * ranks; ++i) out[i] = in[i] = POISON;
        for (int p = 0; p < ranks; ++p)
          for (int k = 0; k < 2; ++k)
            (in_place ? in : out)[p * extents[s] + steps[s][k]] = block_value(turn, rank, p, k);
        const void *const from = in_place ? MPI_IN_PLACE : out;
        if (started) MPI_Ialltoall(from, counts[s], types[s], in, counts[r], types[r], MPI_COMM_WORLD, &request);
        else MPI_Alltoall(from, counts[s], types[s], in, counts[r], types[r], MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int p = 0; p < ranks; ++p)
          for (int k = 0; k < extents[r]; ++k) {
            const int which = k == steps[r][0] ? 0 : k == steps[r][1] ? 1 : -1;
            const int right = which < 0 ? POISON : block_value(turn, p, rank, which);
            expect(in[p * extents[r] + k] == right, "turn %d, in place %d, started %d: %d from %d is %d, not %d", turn,
                   in_place, started, k, p, in[p * extents[r] + k], right);
          }
        free(out), free(in);
      }
  MPI_Type_free(&pair), MPI_Type_free(&spread), MPI_Type_free(&wide), MPI_Type_free(&back);
}

/* 5.8: MPI_Alltoallw with all counts but those of one rank zero is a scatter, or a gather, of types of each rank's own. */
static void one_root(void) {
  int *const all = malloc((size_t)ranks * 100 * sizeof(int)), *const zeros = calloc((size_t)ranks, sizeof(int)),
             *const counts = calloc((size_t)ranks, sizeof(int)), *const bytes = calloc((size_t)ranks, sizeof(int)),
             mine[100];
  MPI_Datatype *const types = malloc((size_t)ranks * sizeof *types);
  for (int p = 0; p < ranks; ++p) types[p] = MPI_INT;
  for (int round = 0; round < 30; ++round) {
    const int root = round % ranks, size = 1 + round * 3;
    for (int p = 0; p < ranks; ++p) {
      bytes[p] = p * 100 * (int)sizeof(int), counts[p] = 0;
      for (int k = 0; k < size; ++k) all[p * 100 + k] = block_value(round, root, p, k % ROOM);
    }
    int *const at_root = malloc((size_t)ranks * sizeof(int));
    for (int p = 0; p < ranks; ++p) at_root[p] = size;
    counts[root] = size, bytes[root] = 0;
    int *const root_bytes = malloc((size_t)ranks * sizeof(int));
    for (int p = 0; p < ranks; ++p) root_bytes[p] = p * 100 * (int)sizeof(int);
    for (int k = 0; k < 100; ++k) mine[k] = POISON;
    MPI_Alltoallw(rank == root ? all : NULL, rank == root ? at_root : zeros, root_bytes, types, mine, counts, bytes,
                  types, MPI_COMM_WORLD);
    for (int k = 0; k < 100; ++k)
      expect(mine[k] == (k < size ? block_value(round, root, rank, k % ROOM) : POISON), "scattered %d: %d", k, mine[k]);
    for (int i = 0; i < 100 * ranks; ++i) all[i] = POISON;
    for (int k = 0; k < size; ++k) mine[k] = block_value(round, rank, root, k % ROOM);
    MPI_Alltoallw(mine, counts, bytes, types, rank == root ? all : NULL, rank == root ? at_root : zeros, root_bytes,
                  types, MPI_COMM_WORLD);
    for (int p = 0; rank == root && p < ranks; ++p)
      for (int k = 0; k < 100; ++k)
        expect(all[p * 100 + k] == (k < size ? block_value(round, p, root, k % ROOM) : POISON), "gathered %d from %d",
               k, p);
    free(at_root), free(root_bytes);
  }
  free(all), free(zeros), free(counts), free(bytes), free(types);
}

/* 5.8, 5.14: a rank that receives nothing may be many calls ahead of the others; blocks of other sizes follow. */
static void ahead(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int form = 0; form < 2; ++form)
    for (int most = 1; most <= 1000; most *= 10) {
      int *const out = malloc((size_t)(ranks * most) * sizeof(int)),
                 *const in = malloc((size_t)(ranks * most) * sizeof(int)),
                 *const counts = calloc((size_t)ranks, sizeof(int)), *const zeros = calloc((size_t)ranks, sizeof(int)),
                 *const places = malloc((size_t)ranks * sizeof(int));
      for (int p = 0; p < ranks; ++p) places[p] = p * most;
      for (int round = 0; round < 60; ++round) {
        const int root = round / 20 % ranks, size = 1 + round * 7 % most;
        MPI_Request request = MPI_REQUEST_NULL;
        for (int i = 0; i < ranks * most; ++i) out[i] = POISON, in[i] = POISON;
        for (int p = 0; p < ranks; ++p) {
          counts[p] = p == rank ? 0 : size;
          for (int k = 0; k < size; ++k) out[p * most + k] = block_value(round, rank, p, k % ROOM);
        }
        if (rank != root && round % 7 == 0) usleep(300);
        int *const received = calloc((size_t)ranks, sizeof(int));
        if (rank != root) received[root] = size;
        if (form == BLOCKING)
          MPI_Alltoallv(out, rank == root ? counts : zeros, places, MPI_INT, in, received, places, MPI_INT, comm);
        else
          MPI_Ialltoallv(out, rank == root ? counts : zeros, places, MPI_INT, in, received, places, MPI_INT, comm,
                         &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < ranks * most; ++i) {
          const int p = i / most, k = i % most, data = p == root && p != rank && k < size;
          expect(in[i] == (data ? block_value(round, p, rank, k % ROOM) : POISON),
                 "form %d, round %d: %d from %d is %d", form, round, k, p, in[i]);
        }
        free(received);
      }
      free(out), free(in), free(counts), free(zeros), free(places);
    }
  MPI_Comm_free(&comm);
}

/* 5.14: messages of the application never match ours, whatever their source and tag: receives from anybody are pending,
 * probes find the application's messages only. */
static void any_source(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  FOR_EACH_ALL(kind, form, in_place) {
    All x = all_open(comm, kind, form, in_place);
    int got[2] = {-1, -1}, sent = 100 + rank, flag = 0, extra = -1;
    MPI_Request receives[2];
    MPI_Status status;
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, i ? MPI_COMM_WORLD : comm, &receives[i]);
    for (int round = 0; round < 3; ++round) all_once(&x, round);
    MPI_Testany(2, receives, &extra, &flag, &status);
    expect(!flag, "a receive got a message that nobody has sent");
    MPI_Barrier(comm);
    for (int i = 0; i < 2; ++i)
      MPI_Send(&sent, 1, MPI_INT, (rank + 1) % ranks, 40000 % 32768, i ? MPI_COMM_WORLD : comm);
    for (int round = 0; round < 3; ++round) all_once(&x, round);
    MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
    expect(got[0] == 100 + (rank + ranks - 1) % ranks && got[1] == got[0], "messages have %d and %d", got[0], got[1]);
    for (int i = 0; i < 2; ++i) {
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, i ? MPI_COMM_WORLD : comm, &flag, &status);
      expect(!flag, "a probe finds a message that nobody has sent");
    }
    MPI_Barrier(comm);
    all_close(&x);
  }
  MPI_Comm_free(&comm);
}

/* 5.8: displacements, types and buffers of blocks without data may be anything valid; a call without any data has no buffer. */
static void nothing(void) {
  int zeros[64] = {0}, none[64] = {0}, far[64], near[64], places[64], counts[64], back[64], data[64], in[64];
  MPI_Datatype types[64], empty;
  const int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
  MPI_Type_contiguous(0, MPI_INT, &empty), MPI_Type_commit(&empty);
  for (int round = 0; round < 4; ++round) {
    MPI_Request request;
    for (int p = 0; p < ranks; ++p) far[p] = 2000000000 - p, types[p] = p % 2 ? empty : MPI_DOUBLE;
    MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoallv(NULL, zeros, far, MPI_INT, NULL, none, far, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(NULL, zeros, far, types, NULL, none, far, types, MPI_COMM_WORLD);
    MPI_Ialltoallv(NULL, zeros, far, MPI_INT, NULL, none, far, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, NULL, zeros, far, MPI_INT, MPI_COMM_WORLD);
    for (int p = 0; p < ranks; ++p) { /* only the next rank gets anything */
      counts[p] = p == after, near[p] = counts[p] ? 0 : -1000000000 + p;
      back[p] = p == before, places[p] = back[p] ? 0 : 1999999999;
      data[p] = block_value(round, rank, after, 0), in[p] = POISON;
    }
    MPI_Alltoallv(data, counts, near, MPI_INT, in, back, places, MPI_INT, MPI_COMM_WORLD);
    expect(in[0] == block_value(round, before, rank, 0), "%d", in[0]);
    for (int p = 1; p < ranks; ++p) expect(in[p] == POISON, "%d is written to", p);
  }
  MPI_Type_free(&empty);
}

/* 4.1.12, 5.8: with MPI_BOTTOM displacements are addresses; blocks lie anywhere and in any order. */
static void bottom(void) {
  int *const out = malloc((size_t)ranks * 4 * sizeof(int)), *const in = malloc((size_t)ranks * 4 * sizeof(int)),
             *const ones = malloc((size_t)ranks * sizeof(int)), *const zeros = calloc((size_t)ranks, sizeof(int));
  MPI_Datatype *const sent = malloc((size_t)ranks * sizeof *sent), *const got = malloc((size_t)ranks * sizeof *got);
  for (int started = 0; started < 2; ++started) {
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 4 * ranks; ++i) in[i] = POISON;
    for (int p = 0; p < ranks; ++p) {
      MPI_Aint at;
      const int two = 2;
      ones[p] = 1;
      for (int k = 0; k < 2; ++k) out[4 * (ranks - 1 - p) + k] = block_value(started, rank, p, k);
      MPI_Get_address(&out[4 * (ranks - 1 - p)], &at);
      MPI_Type_create_hindexed(1, &two, &at, MPI_INT, &sent[p]), MPI_Type_commit(&sent[p]);
      MPI_Get_address(&in[4 * ((p + 1) % ranks)], &at);
      MPI_Type_create_hindexed(1, &two, &at, MPI_INT, &got[p]), MPI_Type_commit(&got[p]);
    }
    if (started) MPI_Ialltoallw(MPI_BOTTOM, ones, zeros, sent, MPI_BOTTOM, ones, zeros, got, MPI_COMM_WORLD, &request);
    else MPI_Alltoallw(MPI_BOTTOM, ones, zeros, sent, MPI_BOTTOM, ones, zeros, got, MPI_COMM_WORLD);
    for (int p = 0; p < ranks; ++p) MPI_Type_free(&sent[p]), MPI_Type_free(&got[p]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int p = 0; p < ranks; ++p)
      for (int k = 0; k < 4; ++k)
        expect(in[4 * ((p + 1) % ranks) + k] == (k < 2 ? block_value(started, p, rank, k) : POISON), "%d from %d", k,
               p);
  }
  free(out), free(in), free(ones), free(zeros), free(sent), free(got);
}

/* 7.4, 5.14: communicators of other orders and of some ranks, one inside the other, used in turn; those left out go on. */
static void groups(void) {
  for (int stride = 1; stride < 3; ++stride) {
    MPI_Comm reversed, some = MPI_COMM_NULL, copy;
    MPI_Group world, chosen;
    int list[64], number = 0, undefined;
    MPI_Comm_split(MPI_COMM_WORLD, rank % stride, -rank, &reversed);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int r = ranks - 1; r >= 0; r -= stride) list[number++] = r;
    MPI_Group_incl(world, number, list, &chosen);
    MPI_Group_rank(chosen, &undefined);
    if (undefined != MPI_UNDEFINED) MPI_Comm_create_group(MPI_COMM_WORLD, chosen, 4, &some);
    MPI_Group_free(&world), MPI_Group_free(&chosen);
    MPI_Comm_dup(reversed, &copy);
    FOR_EACH_ALL(kind, form, in_place) {
      All x = all_open(reversed, kind, form, in_place), y = all_open(copy, kind, form, in_place), z;
      if (some != MPI_COMM_NULL) z = all_open(some, kind, form, in_place);
      for (int round = 0; round < 3; ++round) {
        all_once(&x, round);
        if (some != MPI_COMM_NULL) all_once(&z, round);
        all_once(&y, round);
      }
      all_close(&x), all_close(&y);
      if (some != MPI_COMM_NULL) all_close(&z);
    }
    if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
    MPI_Comm_free(&reversed), MPI_Comm_free(&copy);
  }
}

static const Case cases[] = {
    {"one-way", 2, one_way},       {"maps-differ", 1, maps_differ}, {"one-root", 1, one_root}, {"ahead", 2, ahead},
    {"any-source", 2, any_source}, {"nothing", 1, nothing},         {"bottom", 1, bottom},     {"groups", 1, groups},
};

int main(int argc, char **argv) { return run_cases(cases, sizeof cases / sizeof *cases, argc, argv); }
