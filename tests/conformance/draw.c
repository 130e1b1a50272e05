/* Drawing exchanges. */
#include "draw.h"

#include "oracle.h"

int draw_below(Random *random, int limit) {
  return (int)(oracle_mix(random->seed + ++random->drawn) % (uint64_t)limit);
}

static Exchange draw(Random *random) {
  static const MPI_Aint sizes[] = {0, 1, 3, 8, 12, 64, 100, 256, 1000, 4096, 8193, 20000};
  Exchange exchange = {.collective = (Collective)draw_below(random, COLLECTIVES),
                       .seed = oracle_mix(random->seed + (++random->drawn << 32))};
  type_random_pair(oracle_mix(exchange.seed - 1), &exchange.send, &exchange.recv);
  exchange.block_bytes = sizes[draw_below(random, (int)(sizeof sizes / sizeof sizes[0]))];
  exchange.in_place = draw_below(random, 5) == 0;
  exchange.bottom = draw_below(random, 8) == 0;
  exchange.types_by_rank = draw_below(random, 4) == 0;
  if (draw_below(random, 2) == 0) exchange.form = (Form)draw_below(random, FORMS);
  if (exchange.in_place) exchange.send = exchange.recv;
  if (!is_vector(exchange.collective)) return exchange;
  exchange.pattern = (Pattern)draw_below(random, PATTERNS);
  exchange.send_placement = exchange.in_place ? DENSE : (Placement)draw_below(random, PLACEMENTS);
  exchange.recv_placement = (Placement)draw_below(random, SAME_BLOCK);
  exchange.types_by_peer =
      has_types(exchange.collective) && exchange.send_placement < SAME_BLOCK && draw_below(random, 3) > 0;
  return exchange;
}

Exchange draw_exchange(Random *random, bool inter) {
  Exchange exchange;
  do exchange = draw(random);
  while (exchange_unsuitable(&exchange, inter));
  return exchange;
}
