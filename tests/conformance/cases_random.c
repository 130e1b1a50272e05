/* Seeded random combinations. */
#include "cases.h"
#include "communicators.h"
#include "draw.h"
#include "oracle.h"

void cases_random(Suite *suite) {
  for (int k = 0; k < suite->options.random_cases; ++k) {
    Random random = {oracle_mix(suite->options.seed) + oracle_mix((uint64_t)k), 0};
    const Communicator which = (Communicator)draw_below(&random, COMMUNICATORS);
    const Exchange exchange = draw_exchange(&random, false);
    char name[200];
    if (!suite_begin(suite, "random/seed=%llu/%d/%s/%s", (unsigned long long)suite->options.seed, k,
                     exchange_name(&exchange, name, sizeof name), communicator_name(which)))
      continue;
    exchange_run(suite, &exchange, communicator(which));
    suite_end(suite);
  }
}
