/* What users of MPI have reported of all-to-alls: legal programs that an MPI, or a library between, did not serve (standard.h). Each
 * case names the threads. */
#include "standard.h"

/* jeffhammond/mukautuva#13, pmodels/mpich#1564: in place, whatever describes what is sent may be missing or absurd. */
static void ignored_in_place(void) {
  int data[64], counts[64], places[64], bytes[64];
  MPI_Datatype types[64];
  for (int turn = 0; turn < 2; ++turn)
    for (int form = 0; form < (HAS_PERSISTENT ? FORMS : 2); ++form)
      for (int kind = 0; kind < KINDS; ++kind) {
        const int absurd[1] = {-1};
        const int *const none = turn ? absurd : NULL;
        for (int p = 0; p < ranks; ++p) {
          data[p] = block_value(0, rank, p, 0), counts[p] = 1, places[p] = p, bytes[p] = p * (int)sizeof(int);
          types[p] = MPI_INT;
        }
        const Side out = {MPI_IN_PLACE, turn ? -1 : 0, MPI_DATATYPE_NULL, none, none, none, NULL};
        const Side in = {data, 1, MPI_INT, counts, places, bytes, types};
        call_once(MPI_COMM_WORLD, kind, form, &out, &in);
        for (int p = 0; p < ranks; ++p)
          expect(data[p] == block_value(0, p, rank, 0), "turn %d, form %d, kind %d: %d", turn, form, kind, data[p]);
      }
}

/* pmodels/mpich#543, #4659, #6323: where a count is zero nobody looks at the type, which may be none. */
static void no_type(void) {
  int out[64], in[64], counts[64], back[64], bytes[64];
  MPI_Datatype types[64], back_types[64];
  const int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
  for (int form = 0; form < 2; ++form)
    for (int some = 0; some < 2; ++some) {
      MPI_Request request = MPI_REQUEST_NULL;
      for (int p = 0; p < ranks; ++p) {
        out[p] = block_value(form, rank, p, 0), in[p] = POISON, bytes[p] = p * (int)sizeof(int);
        counts[p] = some && p == after, back[p] = some && p == before;
        types[p] = counts[p] ? MPI_INT : MPI_DATATYPE_NULL, back_types[p] = back[p] ? MPI_INT : MPI_DATATYPE_NULL;
      }
      if (form == BLOCKING) MPI_Alltoallw(out, counts, bytes, types, in, back, bytes, back_types, MPI_COMM_WORLD);
      else MPI_Ialltoallw(out, counts, bytes, types, in, back, bytes, back_types, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int p = 0; p < ranks; ++p)
        expect(in[p] == (back[p] ? block_value(form, p, rank, 0) : POISON), "form %d: %d from %d", form, in[p], p);
    }
}

/* pmodels/mpich#872: a rank sends some items of a type without data, to one that receives no item of another type. */
static void empty_types(void) {
  MPI_Datatype empty, types[64], ints[64];
  int out[64], in[64], several[64], none[64], places[64], ones[64];
  MPI_Type_contiguous(0, MPI_INT, &empty), MPI_Type_commit(&empty);
  for (int p = 0; p < ranks; ++p) {
    out[p] = 1, in[p] = POISON, several[p] = 3, none[p] = 0, places[p] = p, types[p] = empty, ints[p] = MPI_INT,
    ones[p] = 1;
  }
  for (int turn = 0; turn < 3; ++turn) {
    const int odd = (rank + turn) % 2;
    MPI_Request requests[2];
    MPI_Alltoallv(out, several, places, empty, in, none, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(out, several, places, types, in, none, places, ints, MPI_COMM_WORLD);
    MPI_Alltoallv(out, odd ? several : none, places, odd ? empty : MPI_INT, in, odd ? none : ones, places,
                  odd ? MPI_DOUBLE : empty, MPI_COMM_WORLD);
    MPI_Ialltoallv(out, odd ? several : none, places, odd ? empty : MPI_INT, in, odd ? none : ones, places,
                   odd ? MPI_DOUBLE : empty, MPI_COMM_WORLD, &requests[0]);
    MPI_Ialltoallw(out, several, places, types, in, none, places, ints, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int p = 0; p < ranks; ++p) expect(in[p] == POISON, "turn %d: block %d is written to", turn, p);
  }
  MPI_Type_free(&empty);
}

/* pmodels/mpich#6404, open-mpi/ompi#9329: MPI_Alltoallw in place with blocks of other sizes, types with gaps before and behind. */
static void typed_in_place(void) {
  MPI_Datatype shifted[64], plain;
  const int lengths[1] = {1};
  int *const data = malloc((size_t)ranks * 64 * sizeof(int)), counts[64], bytes[64];
  for (int p = 0; p < ranks; ++p) { /* an int after `p % 3` others, of an extent of 4 */
    const int places[1] = {p % 3};
    MPI_Type_indexed(1, lengths, places, MPI_INT, &plain);
    MPI_Type_create_resized(plain, 0, 4 * sizeof(int), &shifted[p]), MPI_Type_commit(&shifted[p]);
    MPI_Type_free(&plain);
  }
  for (int form = 0; form < 2; ++form)
    for (int round = 0; round < 4; ++round) {
      MPI_Request request = MPI_REQUEST_NULL;
      for (int i = 0; i < 64 * ranks; ++i) data[i] = POISON;
      for (int p = 0; p < ranks; ++p) {
        counts[p] = (rank + p + round) % 5, bytes[p] = p * 64 * (int)sizeof(int);
        for (int k = 0; k < counts[p]; ++k) data[p * 64 + 4 * k + p % 3] = block_value(round, rank, p, k);
      }
      if (form == BLOCKING) MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, bytes, shifted, MPI_COMM_WORLD);
      else MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, bytes, shifted, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int p = 0; p < ranks; ++p)
        for (int i = 0; i < 64; ++i) {
          const int k = i / 4, right = i % 4 == p % 3 && k < counts[p] ? block_value(round, p, rank, k) : POISON;
          expect(data[p * 64 + i] == right, "form %d, round %d: %d from %d is %d, not %d", form, round, i, p,
                 data[p * 64 + i], right);
        }
    }
  for (int p = 0; p < ranks; ++p) MPI_Type_free(&shifted[p]);
  free(data);
}

/* open-mpi/ompi#12269, #12280, #12806: some ranks neither send nor receive, others only with themselves; types with a negative
 * lower bound. */
static void bystanders(void) {
  MPI_Datatype backwards, wide;
  const int lengths[2] = {1, 1}, places[2] = {0, -2};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &backwards); /* first the int at 0, then that at -2 */
  MPI_Type_create_resized(backwards, -2 * (MPI_Aint)sizeof(int), 4 * sizeof(int), &wide), MPI_Type_commit(&wide);
  int *const out = malloc((size_t)ranks * 16 * sizeof(int)), *const in = malloc((size_t)ranks * 16 * sizeof(int)),
             counts[64], back[64], at[64];
  for (int form = 0; form < 2; ++form)
    for (int turn = 0; turn < 2 * ranks; ++turn) {
      MPI_Request request = MPI_REQUEST_NULL;
      for (int i = 0; i < 16 * ranks; ++i) out[i] = in[i] = POISON;
      for (int p = 0; p < ranks; ++p) {
        const int idle = turn % ranks; /* this one does nothing */
        counts[p] = rank == idle || p == idle ? 0 : turn < ranks ? 2 : rank == p ? 3 : 0, back[p] = counts[p];
        at[p] = 4 * p + 1; /* in extents of 4 ints: its data begin two ints before */
        for (int k = 0; k < counts[p]; ++k) {
          out[4 * (at[p] + k)] = block_value(turn, rank, p, 2 * k),
                           out[4 * (at[p] + k) - 2] = block_value(turn, rank, p, 2 * k + 1);
        }
      }
      if (form == BLOCKING) MPI_Alltoallv(out, counts, at, wide, in, back, at, wide, MPI_COMM_WORLD);
      else MPI_Ialltoallv(out, counts, at, wide, in, back, at, wide, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int p = 0; p < ranks; ++p)
        for (int i = 2; i < 14; ++i) { /* from the first that may be written to */
          const int k = (i + 2) / 4 - 1, place = i - 4 * (k + 1);
          const int data = k < back[p] && (place == 0 || place == -2);
          const int right = data ? block_value(turn, p, rank, 2 * k + (place == -2)) : POISON;
          expect(in[16 * p + i] == right, "form %d, turn %d: %d from %d is %d, not %d", form, turn, i, p,
                 in[16 * p + i], right);
        }
    }
  free(out), free(in);
  MPI_Type_free(&backwards), MPI_Type_free(&wide);
}

/* mpi-forum/mpi-issues#688: the arrays of a persistent exchange of unequal blocks are the user's again once the request is freed,
 * and nobody's before: what comes next in their memory changes nothing. The same for a started one. */
static void arrays(void) {
  for (int round = 0; round < 6; ++round)
    for (int kind = VARYING; kind < KINDS; ++kind) {
      All x = all_open(MPI_COMM_WORLD, kind, STARTED, round % 2);
      all_fill(&x, round), all_begin(&x);
      MPI_Wait(&x.request, MPI_STATUS_IGNORE);
      all_check(&x, round);
      memset(x.places, 0x7f, (size_t)ranks * sizeof(int)), memset(x.offsets, 0x7f, (size_t)ranks * sizeof(int));
      all_once(&x, round + 1);
      all_close(&x);
    }
}

static const Case cases[] = {
    {"ignored-in-place", 1, ignored_in_place}, {"no-type", 1, no_type},       {"empty-types", 1, empty_types},
    {"typed-in-place", 1, typed_in_place},     {"bystanders", 1, bystanders}, {"arrays", 1, arrays},
};

int main(int argc, char **argv) { return run_cases(cases, sizeof cases / sizeof *cases, argc, argv); }
