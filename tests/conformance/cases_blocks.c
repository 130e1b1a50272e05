/* Block sizes, pairs of types, communicators: what the collectives have in common. */
#include "cases.h"
#include "communicators.h"
#include "exchange.h"

enum { BUFFER_BYTES = 2400000 }; /* of one rank: at P = 16 the largest blocks shrink, so that the suite stays quick */

static void run_on(Suite *suite, const Exchange *exchange, Communicator which) {
  char name[200];
  if (!suite_begin(suite, "%s/%s", exchange_name(exchange, name, sizeof name), communicator_name(which))) return;
  exchange_run(suite, exchange, communicator(which));
  suite_end(suite);
}

static void block_sizes(Suite *suite, Collective collective) {
  static const MPI_Aint sizes[] = {0, 1, 3, 8, 12, 64, 1000, 4096, 8193, 40000, 300000};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    Exchange exchange = {.collective = collective,
                         .send = type_find("byte/basic"),
                         .recv = type_find("byte/basic"),
                         .block_bytes = sizes[k],
                         .seed = suite->options.seed};
    if (exchange.block_bytes * suite->ranks > BUFFER_BYTES) exchange.block_bytes = BUFFER_BYTES / suite->ranks;
    run_on(suite, &exchange, WORLD);
  }
}

static void type_pairs(Suite *suite, Collective collective) {
  static const char *const pairs[][2] = {
      {"int/vector", "int/basic"},
      {"int/basic", "int/vector"},
      {"int/contiguous", "int/basic"},
      {"double/resized", "double/basic"},
      {"char/basic", "char/resized"},
      {"int/negative-lb", "int/contiguous"},
      {"int/basic", "int/negative-lb"},
      {"double/negative-offset", "double/vector"},
      {"int/nested", "int/negative-offset"},
      {"int/permuted", "int/contiguous"},
      {"double/basic", "double/permuted"},
      {"int/permuted", "int/permuted"},
      {"byte/subarray", "byte/vector"},
      {"double/column", "double/basic"},
      {"int/basic", "int/column"},
      {"byte/column", "byte/column"},
      {"double+int/pair", "double+int/struct-apart"},
      {"double+int/struct-swapped", "double+int/pair"},
      {"double+int/pair", "double+int/pair"},
      {"double+int/struct-negative", "double+int/struct-apart"},
      {"short+int/pair", "short+int/struct-swapped"},
      {"char+double+int/struct-holes", "char+double+int/struct-reordered"},
      {"char+double+int/struct-holes", "char+double+int/struct-holes"},
      {"empty/flat", "empty/flat"},
      {"empty/flat", "empty/wide"},
  };
  static const MPI_Aint sizes[] = {12, 1000};
  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; ++k)
    /* The others differ in their arguments only: one size will do. */
    for (size_t size = collective > ALLTOALLV; size < sizeof sizes / sizeof sizes[0]; ++size) {
      const Exchange exchange = {.collective = collective,
                                 .send = type_find(pairs[k][0]),
                                 .recv = type_find(pairs[k][1]),
                                 .block_bytes = sizes[size],
                                 .seed = suite->options.seed + k};
      run_on(suite, &exchange, WORLD);
    }
}

/* Every communicator with: plain ints, a type change with middling blocks, in place. */
static void on_communicators(Suite *suite, Collective collective) {
  const Exchange exchanges[] = {
      {.send = type_find("int/basic"), .recv = type_find("int/basic"), .block_bytes = 64},
      {.send = type_find("int/vector"), .recv = type_find("int/contiguous"), .block_bytes = 4096},
      {.send = type_find("int/resized"), .recv = type_find("int/resized"), .block_bytes = 8193, .in_place = true},
  };
  for (Communicator which = DUPLICATE; which < COMMUNICATORS; ++which)
    for (size_t k = 0; k < sizeof exchanges / sizeof exchanges[0]; ++k) {
      Exchange exchange = exchanges[k];
      exchange.collective = collective;
      exchange.seed = suite->options.seed + (uint64_t)which;
      run_on(suite, &exchange, which);
    }
}

static void special_arguments(Suite *suite, Collective collective) {
  static const struct {
    const char *send, *recv;
    MPI_Aint block_bytes;
    bool in_place, bottom, types_by_rank;
  } specials[] = {
      {"byte/basic", "byte/basic", 1, .in_place = true},
      {"int/basic", "int/basic", 12, .in_place = true},
      {"int/basic", "int/basic", 40000, .in_place = true},
      {"double/vector", "double/vector", 64, .in_place = true},
      {"int/permuted", "int/permuted", 1000, .in_place = true},
      {"int/column", "int/column", 1000, .in_place = true},
      {"int/negative-lb", "int/negative-lb", 64, .in_place = true},
      {"double+int/pair", "double+int/pair", 300, .in_place = true},
      {"empty/wide", "empty/wide", 1, .in_place = true},
      {"int/basic", "int/basic", 0, .in_place = true},
      {"int/vector", "int/vector", 64, .in_place = true, .bottom = true},
      {"int/vector", "int/basic", 12, .bottom = true},
      {"int/basic", "int/permuted", 4096, .bottom = true},
      {"int/basic", "int/vector", 12, .types_by_rank = true},
      {"int/vector", "int/basic", 1000, .types_by_rank = true},
      {"double/basic", "double/basic", 40000, .types_by_rank = true},
      {"double+int/pair", "double+int/pair", 64, .types_by_rank = true},
  };
  for (size_t k = 0; k < sizeof specials / sizeof specials[0]; ++k) {
    const Exchange exchange = {.collective = collective,
                               .send = type_find(specials[k].send),
                               .recv = type_find(specials[k].recv),
                               .block_bytes = specials[k].block_bytes,
                               .in_place = specials[k].in_place,
                               .bottom = specials[k].bottom,
                               .types_by_rank = specials[k].types_by_rank,
                               .seed = suite->options.seed + k};
    run_on(suite, &exchange, WORLD);
  }
}

void cases_blocks(Suite *suite) {
  for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective) {
    block_sizes(suite, collective);
    type_pairs(suite, collective);
    on_communicators(suite, collective);
    special_arguments(suite, collective);
  }
}
