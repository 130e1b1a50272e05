/* Repeated calls that look alike and are not: what a cache of plans may confuse. */
#include "cases.h"
#include "communicators.h"
#include "exchange.h"

/* Only one pair's count changes: all other ranks see the call they saw before, and must still do as those two do. */
static void changed_pair(Suite *suite, Collective collective) {
  Exchange exchange = {.collective = collective,
                       .send = type_find("int/basic"),
                       .recv = type_find("int/basic"),
                       .block_bytes = 64,
                       .seed = suite->options.seed};
  for (int changed = 0; changed < 5; ++changed) {
    exchange.changed_pair = changed;
    exchange_run(suite, &exchange, MPI_COMM_WORLD);
  }
}

/* One pair's block grows beyond every threshold and shrinks again. */
static void skewed_and_back(Suite *suite, Collective collective) {
  Exchange exchange = {.collective = collective,
                       .send = type_find("byte/basic"),
                       .recv = type_find("byte/basic"),
                       .pattern = SKEWED,
                       .seed = suite->options.seed};
  static const MPI_Aint sizes[] = {1, 100000, 2, 500, 100000, 1};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    exchange.block_bytes = sizes[k];
    exchange_run(suite, &exchange, MPI_COMM_WORLD);
  }
}

/* Types are made and freed with every exchange: MPI gives the same handle to another type of the same size. */
static void recycled_types(Suite *suite, Collective collective) {
  static const char *const types[] = {"int/vector", "int/permuted", "int/subarray", "int/column", "int/nested"};
  enum { TYPES = sizeof types / sizeof types[0] };
  for (int k = 0; k < 2 * TYPES; ++k) {
    const Exchange exchange = {.collective = collective,
                               .send = type_find(types[k % TYPES]),
                               .recv = type_find(types[(k + k / TYPES + 1) % TYPES]),
                               .block_bytes = 64,
                               .seed = suite->options.seed + (uint64_t)k};
    exchange_run(suite, &exchange, MPI_COMM_WORLD);
  }
}

/* In place and not in turn, with the same receive arguments. */
static void in_place_in_turn(Suite *suite, Collective collective) {
  Exchange exchange = {.collective = collective,
                       .send = type_find("int/basic"),
                       .recv = type_find("int/basic"),
                       .block_bytes = 1000,
                       .seed = suite->options.seed};
  for (int k = 0; k < 4; ++k) {
    exchange.in_place = k % 2;
    exchange_run(suite, &exchange, MPI_COMM_WORLD);
  }
}

/* Few calls know many predefined types: whatever was asked before, pairs of ints arrive as ints. */
static void predefined_types_in_turn(Suite *suite) {
  enum { MOST_RANKS = 64, POISON = -7 };
  const MPI_Datatype others[] = {MPI_SHORT, MPI_FLOAT, MPI_DOUBLE, MPI_LONG, MPI_UNSIGNED, MPI_SIGNED_CHAR};
  enum { OTHERS = sizeof others / sizeof others[0] };
  int sent[2 * MOST_RANKS], received[2 * MOST_RANKS];
  if (suite->ranks > MOST_RANKS) return suite_skip(suite, "so many ranks");
  for (int between = 0; between <= OTHERS; ++between) { /* types that come between MPI_INT and the pair */
    char small[2][8 * MOST_RANKS] = {{0}};
    for (int k = -OTHERS - 1; k < between; ++k) {
      const MPI_Datatype type = k < -1 ? others[k + OTHERS + 1] : k == -1 ? MPI_INT : others[k];
      MPI_Alltoall(small[0], 1, type, small[1], 1, type, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 2 * suite->ranks; ++i) sent[i] = 1000 * suite->rank + i, received[i] = POISON;
    MPI_Alltoall(sent, 1, MPI_2INT, received, 2, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * suite->ranks; ++i)
      if (received[i] != 1000 * (i / 2) + 2 * suite->rank + i % 2)
        suite_fail(suite, "%d types between: element %d is %d", between, i, received[i]);
  }
}

void cases_reuse(Suite *suite) {
  static const struct {
    const char *name;
    void (*run)(Suite *suite, Collective collective);
    bool vector_only;
  } cases[] = {
      {"changed-pair", changed_pair, true},
      {"skewed-and-back", skewed_and_back, true},
      {"recycled-types", recycled_types, false},
      {"in-place-in-turn", in_place_in_turn, false},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k)
    for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective) {
      if (cases[k].vector_only && !is_vector(collective)) continue;
      if (!suite_begin(suite, "reuse/%s/%s", cases[k].name, collective_name(collective))) continue;
      cases[k].run(suite, collective);
      suite_end(suite);
    }
  if (suite_begin(suite, "reuse/predefined-types-in-turn/alltoall")) {
    predefined_types_in_turn(suite);
    suite_end(suite);
  }
}
