/* Plans are completed first: they move on in the library's functions alone, and another rank may wait for one. */
#include "completion.h"

#include <stdlib.h>
#include <string.h>

#include "oracle.h"

enum { RING_TAG = 31, RING_KEY = 77, TESTALL = 1 };

void ring_open(Ring *ring, MPI_Comm comm) {
  int inter = 0, rank = 0, ranks = 1;
  memset(ring, 0, sizeof *ring);
  ring->requests[0] = ring->requests[1] = MPI_REQUEST_NULL;
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
  }
  if (inter || ranks == 1) return;
  ring->source = (rank + ranks - 1) % ranks;
  oracle_write(ring->sent, ORACLE_DATA, oracle_key(RING_KEY, rank, 0), 0, sizeof ring->sent);
  MPI_Send_init(ring->sent, sizeof ring->sent, MPI_BYTE, (rank + 1) % ranks, RING_TAG, comm, &ring->requests[0]);
  MPI_Recv_init(ring->received, sizeof ring->received, MPI_BYTE, ring->source, RING_TAG, comm, &ring->requests[1]);
}

void ring_prepare(Ring *ring) { memset(ring->received, 0xff, sizeof ring->received); }

void ring_check(const Ring *ring, Suite *suite) {
  if (ring->requests[0] == MPI_REQUEST_NULL) return;
  const uint64_t key = oracle_key(RING_KEY, ring->source, 0);
  if (oracle_compare(ring->received, ORACLE_DATA, key, 0, sizeof ring->received) != sizeof ring->received)
    suite_fail(suite, "the user's message from %d has wrong data", ring->source);
}

void ring_close(Ring *ring) {
  for (int k = 0; k < 2; ++k)
    if (ring->requests[k] != MPI_REQUEST_NULL) MPI_Request_free(&ring->requests[k]);
}

/* Requests that are gathered into one array, and where each belongs. */
typedef struct {
  int number;
  MPI_Request *requests;
  MPI_Request **owners;
  bool **under_way;
} Pool;

static void pool_add(Pool *pool, MPI_Request *request, bool *under_way) {
  pool->requests[pool->number] = *request;
  pool->owners[pool->number] = request;
  pool->under_way[pool->number++] = under_way;
}

static Pool pool_open(int most) {
  const size_t room = (size_t)most;
  return (Pool){0, malloc(room * sizeof(MPI_Request)), malloc(room * sizeof(MPI_Request *)),
                malloc(room * sizeof(bool *))};
}

static void pool_close(Pool *pool) {
  free(pool->requests);
  free(pool->owners);
  free(pool->under_way);
}

void start_together(Operation operations[], int number, Ring *ring, Suite *suite) {
  Pool pool = pool_open(number + 2);
  for (int k = 0; k < number; ++k)
    if (operations[k].exchange.form == PERSISTENT) pool_add(&pool, &operations[k].request, &operations[k].under_way);
  for (int k = 0; k < 2 && ring->requests[0] != MPI_REQUEST_NULL; ++k)
    pool_add(&pool, &ring->requests[k], &ring->under_way[k]);
  if (pool.number > 0) expect_success(suite, MPI_Startall(pool.number, pool.requests), "MPI_Startall");
  for (int k = 0; k < pool.number; ++k) {
    *pool.owners[k] = pool.requests[k];
    *pool.under_way[k] = true;
  }
  pool_close(&pool);
}

static void complete_plans(Operation operations[], int number, Suite *suite, uint64_t seed) {
  for (int left = 1; left > 0;) {
    const int first = (int)(seed % (uint64_t)number);
    left = 0;
    for (int k = 0; k < number; ++k) {
      Operation *one = &operations[(first + k) % number];
      int done = 1, code = MPI_SUCCESS;
      if (!one->under_way) continue;
      seed = oracle_mix(seed);
      if (one->exchange.form != PLAN) {
        if (seed % 2) continue;
        code = MPI_Test(&one->request, &done, MPI_STATUS_IGNORE);
      } else if (seed % 5 == 0) {
        code = plans()->wait(one->plan);
      } else {
        code = plans()->test(one->plan, &done);
      }
      expect_success(suite, code, "completing");
      one->under_way = !done && code == MPI_SUCCESS;
      left += one->under_way && one->exchange.form == PLAN;
    }
  }
}

/* MPICH 5.0.2's MPI_Testall takes a persistent collective without messages for a failed one. The standard ABI names no
 * MPI. */
static bool testall_works(const Operation operations[], int number) {
#ifndef OPEN_MPI
  for (int k = 0; k < number; ++k)
    if (operations[k].exchange.form == PERSISTENT) return false;
#else
  (void)operations, (void)number;
#endif
  return true;
}

/* One of MPI's eight ways. @return how many of the pool it completed; which, in `indices` */
static int complete_some(Pool *pool, Suite *suite, uint64_t random, int *indices) {
  const int number = pool->number, one = (int)(random / 8 % (uint64_t)number);
  MPI_Request *requests = pool->requests;
  int done = number, flag = 1, code = MPI_SUCCESS;
  for (int k = 0; k < number; ++k) indices[k] = k;
  switch (random % 8) {
    case 0: code = MPI_Waitall(number, requests, MPI_STATUSES_IGNORE); break;
    case TESTALL: code = MPI_Testall(number, requests, &flag, MPI_STATUSES_IGNORE); break;
    case 2: code = MPI_Waitsome(number, requests, &done, indices, MPI_STATUSES_IGNORE); break;
    case 3: code = MPI_Testsome(number, requests, &done, indices, MPI_STATUSES_IGNORE); break;
    case 4: done = 1, code = MPI_Waitany(number, requests, indices, MPI_STATUS_IGNORE); break;
    case 5: done = 1, code = MPI_Testany(number, requests, indices, &flag, MPI_STATUS_IGNORE); break;
    case 6: done = 1, indices[0] = one, code = MPI_Wait(&requests[one], MPI_STATUS_IGNORE); break;
    default: done = 1, indices[0] = one, code = MPI_Test(&requests[one], &flag, MPI_STATUS_IGNORE);
  }
  expect_success(suite, code, "completing");
  if (code != MPI_SUCCESS) { /* all are given up */
    for (int k = 0; k < number; ++k) indices[k] = k;
    return number;
  }
  if (!flag) return 0;
  if (done == MPI_UNDEFINED || indices[0] == MPI_UNDEFINED) {
    suite_fail(suite, "requests that are under way were taken for inactive");
    for (int k = 0; k < number; ++k) indices[k] = k;
    return number;
  }
  return done;
}

void complete(Operation operations[], int number, Ring *ring, Suite *suite, uint64_t seed) {
  const bool testall = testall_works(operations, number);
  bool plans_under_way = false;
  suite_come_late(suite, SELDOM);
  for (int k = 0; k < number; ++k) plans_under_way |= operations[k].under_way && operations[k].exchange.form == PLAN;
  if (plans_under_way) complete_plans(operations, number, suite, seed);
  int *indices = malloc(((size_t)number + 2) * sizeof *indices);
  for (Pool pool = {.number = 1}; pool.number > 0;) {
    pool = pool_open(number + 2);
    for (int k = 0; k < number; ++k)
      if (operations[k].under_way) pool_add(&pool, &operations[k].request, &operations[k].under_way);
    for (int k = 0; k < 2; ++k)
      if (ring->under_way[k]) pool_add(&pool, &ring->requests[k], &ring->under_way[k]);
    seed = oracle_mix(seed);
    if (seed % 8 == TESTALL && !testall) ++seed;
    const int done = pool.number > 0 ? complete_some(&pool, suite, seed, indices) : 0;
    for (int k = 0; k < pool.number; ++k) *pool.owners[k] = pool.requests[k];
    for (int k = 0; k < done; ++k) *pool.under_way[indices[k]] = false;
    pool_close(&pool);
  }
  free(indices);
}
