/* Sparse exchanges against an analytic oracle: what each rank sends is a function of the seed, the call and the rank, so
 * every rank knows what it must receive, and from whom in which order.
 *
 *   sparse SPEC CALLS MOST_MESSAGES MOST_BYTES [threads]
 *
 * Several messages to one rank, messages to the rank itself, empty ones, none at all; send buffers with guarded gaps,
 * and derived types; calls one directly behind the other, on two communicators in turn, or on one for each thread. Ranks
 * are late at random, so that some are in the next call while others are in this one. SPEC "": as the library chooses.
 * Arrays and send buffers end where memory ends. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <swapmeet/swapmeet.h>

#include "guarded.h"

enum { GUARD = 16, POISON = 0x5a, MOST = 64 };

static int rank, ranks, most_messages;
static long most_bytes;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint64_t draw(uint64_t *state, uint64_t end) { return mix(*state += 0x9e3779b97f4a7c15u) % end; }

/* What a rank sends in a call: destinations and sizes. @return how many messages */
static int pattern(int seed, int call, int of, int *to, MPI_Count *bytes) {
  uint64_t state = mix(mix((uint64_t)seed * 1009 + (uint64_t)call) + (uint64_t)of);
  const int number = (int)draw(&state, (uint64_t)most_messages + 1);
  for (int i = 0; i < number; ++i) {
    const int kind = (int)draw(&state, 8);
    to[i] = kind == 0 ? of : kind == 1 && i > 0 ? to[i - 1] : (int)draw(&state, (uint64_t)ranks);
    bytes[i] = kind == 2 ? 0 : (MPI_Count)draw(&state, (uint64_t)most_bytes + 1) / 8 * 8;
  }
  return number;
}

static unsigned char byte_of(int seed, int call, int of, int number, MPI_Count index) {
  return (unsigned char)(mix((uint64_t)seed * 31 + (uint64_t)call * 7 + (uint64_t)of * 1000003 + (uint64_t)number) +
                         (uint64_t)index * 3 + ((uint64_t)index >> 9));
}

/* Holds what came against what all ranks have sent. @return errors */
static int check(int seed, int call, const swapmeet_sparse_messages *got) {
  int next = 0, wrong = 0;
  for (int source = 0; source < ranks; ++source) {
    int to[MOST];
    MPI_Count bytes[MOST];
    const int number = pattern(seed, call, source, to, bytes);
    for (int i = 0; i < number; ++i) {
      if (to[i] != rank) continue;
      if (next >= got->count || got->sources[next] != source || got->sizes[next] != bytes[i] ||
          (bytes[i] == 0) != (got->data[next] == NULL)) {
        fprintf(stderr, "rank %d, call %d: message %d is not number %d of rank %d\n", rank, call, next, i, source);
        return wrong + 1;
      }
      const unsigned char *data = got->data[next++];
      wrong += (uintptr_t)data % 16 != 0;
      for (MPI_Count k = 0; k < bytes[i]; ++k) wrong += data[k] != byte_of(seed, call, source, i, k);
    }
  }
  return wrong + (next != got->count);
}

/* One call. Of kind 0 messages lie apart, with guards between them; of kind 1 side by side; of kind 2 they are of a type
 * with gaps: 8 bytes that are sent, 8 that are not. @return errors */
static int exchange(int seed, int call, MPI_Comm comm, MPI_Datatype gaps) {
  const int kind = call % 3;
  int drawn[MOST], wrong = 0;
  MPI_Count bytes[MOST];
  const int number = pattern(seed, call, rank, drawn, bytes);
  const size_t messages = (size_t)number, each = ((size_t)most_bytes + 7) / 8 * 16 + 2 * GUARD;
  int *to = guarded_allocate(messages * sizeof *to, GUARDED_END);
  MPI_Count *counts = guarded_allocate(messages * sizeof *counts, GUARDED_END);
  MPI_Aint *places = guarded_allocate(messages * sizeof *places, GUARDED_END);
  size_t all = 0; /* up to the last byte that is sent */
  for (int i = 0; i < number; ++i) {
    const size_t begin = kind == 1 ? all : (size_t)i * each + GUARD;
    if (bytes[i] > 0) all = begin + (size_t)(kind == 2 ? bytes[i] / 8 * 16 - 8 : bytes[i]);
    to[i] = drawn[i];
  }
  unsigned char *out = guarded_allocate(all, GUARDED_END), *before = guarded_allocate(all, GUARDED_END);
  memset(out, POISON, all);
  size_t side_by_side = 0;
  for (int i = 0; i < number; ++i) {
    const size_t begin = kind == 1 ? side_by_side : (size_t)i * each + GUARD;
    for (MPI_Count k = 0; k < bytes[i]; ++k)
      out[begin + (size_t)(kind == 2 ? k / 8 * 16 + k % 8 : k)] = byte_of(seed, call, rank, i, k);
    side_by_side += (size_t)bytes[i];
    counts[i] = kind == 2 ? bytes[i] / 8 : bytes[i];
    places[i] = (MPI_Aint)(kind == 2 ? begin / 16 : begin);
  }
  memcpy(before, out, all);
  swapmeet_sparse_messages *got = NULL;
  const int error = swapmeet_sparse_alltoallv(out, number, to, counts, kind == 1 ? NULL : places,
                                              kind == 2 ? gaps : MPI_BYTE, comm, &got);
  if (error || !got) {
    fprintf(stderr, "rank %d, call %d: %s\n", rank, call, swapmeet_error_message());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  wrong += memcmp(before, out, all) != 0;
  wrong += check(seed, call, got);
  for (int i = 0; i < got->count; ++i) /* the memory is the caller's, and messages do not overlap */
    if (got->sizes[i] > 0) memset(got->data[i], i, (size_t)got->sizes[i]);
  for (int i = 0; i < got->count; ++i)
    for (MPI_Count k = 0; k < got->sizes[i]; ++k) wrong += ((unsigned char *)got->data[i])[k] != (unsigned char)i;
  wrong += swapmeet_sparse_free(&got) != MPI_SUCCESS || got != NULL;
  guarded_free(to), guarded_free(counts), guarded_free(places), guarded_free(out), guarded_free(before);
  return wrong;
}

struct work {
  MPI_Comm comms[2];
  int seed, calls, wrong;
};

static void *run(void *given) {
  struct work *work = given;
  MPI_Datatype part, gaps;
  MPI_Type_contiguous(8, MPI_BYTE, &part);
  MPI_Type_create_resized(part, 0, 16, &gaps);
  MPI_Type_commit(&gaps);
  uint64_t state = (uint64_t)(work->seed + rank);
  for (int call = 0; call < work->calls; ++call) {
    if (draw(&state, 8) == 0) usleep((useconds_t)draw(&state, 2000));
    work->wrong += exchange(work->seed, call, work->comms[call % 5 == 4], gaps);
  }
  MPI_Type_free(&gaps), MPI_Type_free(&part);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  const int threads = argc > 5 ? 2 : 1;
  int provided = 0, wrong = 0;
  MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  most_messages = atoi(argv[3]);
  most_bytes = atol(argv[4]);
  if (most_messages > MOST) return 2;
  if (threads > 1 && provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("sparse: no MPI_THREAD_MULTIPLE\n");
    return MPI_Finalize();
  }
  struct work works[2];
  for (int t = 0; t < threads; ++t) {
    works[t] = (struct work){{MPI_COMM_NULL, MPI_COMM_NULL}, 17 * t + 1, atoi(argv[2]), 0};
    for (int c = 0; c < 2; ++c) {
      MPI_Comm_dup(MPI_COMM_WORLD, &works[t].comms[c]);
      if (argv[1][0] && swapmeet_set_algorithm(works[t].comms[c], argv[1]) != MPI_SUCCESS) {
        fprintf(stderr, "%s\n", swapmeet_error_message());
        MPI_Abort(MPI_COMM_WORLD, 3);
      }
    }
  }
  pthread_t thread;
  if (threads > 1) pthread_create(&thread, NULL, run, &works[1]);
  run(&works[0]);
  if (threads > 1) pthread_join(thread, NULL);
  for (int t = 0; t < threads; ++t) {
    wrong += works[t].wrong;
    for (int c = 0; c < 2; ++c) MPI_Comm_free(&works[t].comms[c]);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sparse: %d errors\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
