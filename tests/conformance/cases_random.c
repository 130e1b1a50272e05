/* Seeded random combinations. All ranks draw the same. */
#include "cases.h"
#include "communicators.h"
#include "exchange.h"
#include "oracle.h"

typedef struct {
  uint64_t seed, drawn;
} Random;

static int below(Random *random, int limit) {
  return (int)(oracle_mix(random->seed + ++random->drawn) % (uint64_t)limit);
}

static Exchange draw_exchange(Random *random) {
  static const MPI_Aint sizes[] = {0, 1, 3, 8, 12, 64, 100, 256, 1000, 4096, 8193, 20000};
  Exchange exchange = {.collective = (Collective)below(random, COLLECTIVES), .seed = oracle_mix(random->seed)};
  type_random_pair(oracle_mix(random->seed - 1), &exchange.send, &exchange.recv);
  exchange.block_bytes = sizes[below(random, (int)(sizeof sizes / sizeof sizes[0]))];
  exchange.in_place = below(random, 5) == 0;
  exchange.bottom = below(random, 8) == 0;
  exchange.types_by_rank = below(random, 4) == 0;
  if (exchange.in_place) exchange.send = exchange.recv;
  if (!is_vector(exchange.collective)) return exchange;
  exchange.pattern = (Pattern)below(random, PATTERNS);
  exchange.send_placement = exchange.in_place ? DENSE : (Placement)below(random, PLACEMENTS);
  exchange.recv_placement = (Placement)below(random, SAME_BLOCK);
  return exchange;
}

void cases_random(Suite *suite) {
  for (int k = 0; k < suite->options.random_cases; ++k) {
    Random random = {oracle_mix(suite->options.seed) + oracle_mix((uint64_t)k), 0};
    const Communicator which = (Communicator)below(&random, COMMUNICATORS);
    const Exchange exchange = draw_exchange(&random);
    char name[200];
    if (!suite_begin(suite, "random/seed=%llu/%d/%s/%s", (unsigned long long)suite->options.seed, k,
                     exchange_name(&exchange, name, sizeof name), communicator_name(which)))
      continue;
    exchange_run(suite, &exchange, communicator(which));
    suite_end(suite);
  }
}
