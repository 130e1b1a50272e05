/* Alltoallw: each block has a type of its own, and a displacement in bytes. */
#include "cases.h"
#include "communicators.h"
#include "exchange.h"

static const struct {
  const char *send_type, *recv_type; /* the first shapes of their families */
  MPI_Aint block_bytes;
  Pattern pattern;
  Placement send, recv;
  bool in_place, bottom;
} typed_cases[] = {
    {"int/basic", "int/vector", 12, UNIFORM, DENSE, DENSE, false, false},
    {"byte/column", "byte/basic", 1000, UNIFORM, GAPS, MIXED_ORDER, false, false},
    {"double/basic", "double/nested", 40000, UNIFORM, BACKWARDS, BELOW_ZERO, false, false},
    {"int/negative-lb", "int/negative-offset", 64, VARIED, MIXED_ORDER, MIXED_ORDER, false, false},
    {"char+double+int/struct-holes", "char+double+int/struct-reordered", 300, VARIED, GAPS, BELOW_ZERO, false, false},
    {"double+int/pair", "double+int/struct-negative", 100, ZERO_PAIRS, GAPS, GAPS, false, false},
    {"int/permuted", "int/subarray", 64, ZERO_RANKS, MIXED_ORDER, GAPS, false, false},
    {"int/basic", "int/basic", 64, ZERO, GAPS, GAPS, false, false},
    {"short+int/pair", "short+int/struct-swapped", 4096, SPARSE, GAPS, BACKWARDS, false, false},
    {"byte/vector", "byte/resized", 300000, SKEWED, DENSE, MIXED_ORDER, false, false},
    {"empty/flat", "empty/wide", 5, VARIED, DENSE, GAPS, false, false},
    {"int/vector", "int/basic", 12, UNIFORM, DENSE, DENSE, false, true},
    {"double/permuted", "double/column", 1000, VARIED, GAPS, MIXED_ORDER, false, true},
    {"int/resized", "int/resized", 64, UNIFORM, DENSE, DENSE, true, false},
    {"double/vector", "double/vector", 1000, VARIED, DENSE, MIXED_ORDER, true, false},
    {"int/nested", "int/nested", 64, ZERO_PAIRS, DENSE, GAPS, true, false},
    {"int/contiguous", "int/contiguous", 8193, VARIED, DENSE, BELOW_ZERO, true, true},
    {"page/subarray", "page/vector", 60000, UNIFORM, DENSE, GAPS, false, false},
    {"page/basic", "page/permuted", 100000, VARIED, MIXED_ORDER, DENSE, false, false},
    {"page/column", "page/contiguous", 60000, ZERO_PAIRS, GAPS, BACKWARDS, false, true},
    {"page/nested", "page/nested", 100000, VARIED, DENSE, MIXED_ORDER, true, false},
};

void cases_typed(Suite *suite) {
  for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective)
    for (size_t k = 0; has_types(collective) && k < sizeof typed_cases / sizeof typed_cases[0]; ++k) {
      const Communicator comm = (Communicator)(k % 3 == 2 ? SHUFFLED : k == 4 ? PARITY : k == 7 ? SELF : WORLD);
      const Exchange exchange = {.collective = collective,
                                 .send = type_find(typed_cases[k].send_type),
                                 .recv = type_find(typed_cases[k].recv_type),
                                 .block_bytes = typed_cases[k].block_bytes,
                                 .pattern = typed_cases[k].pattern,
                                 .send_placement = typed_cases[k].send,
                                 .recv_placement = typed_cases[k].recv,
                                 .in_place = typed_cases[k].in_place,
                                 .bottom = typed_cases[k].bottom,
                                 .types_by_peer = true,
                                 .seed = suite->options.seed + k};
      char name[200];
      if (!suite_begin(suite, "%s/%s", exchange_name(&exchange, name, sizeof name), communicator_name(comm))) continue;
      exchange_run(suite, &exchange, communicator(comm));
      suite_end(suite);
    }
}
