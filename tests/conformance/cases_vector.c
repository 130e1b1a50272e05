/* Alltoallv: every pattern of counts with every placement of the blocks. */
#include "cases.h"
#include "communicators.h"
#include "exchange.h"

typedef struct {
  Pattern pattern;
  Placement send, recv;
  const char *send_type, *recv_type;
  MPI_Aint block_bytes;
  bool in_place;
} VectorCase;

static const VectorCase vector_cases[] = {
    {ZERO, DENSE, DENSE, "int/basic", "int/basic", 12, false},
    {ZERO, GAPS, MIXED_ORDER, "int/vector", "int/basic", 12, false},
    {ZERO_PAIRS, DENSE, DENSE, "int/basic", "int/basic", 12, false},
    {ZERO_PAIRS, GAPS, GAPS, "byte/basic", "byte/basic", 1, false},
    {ZERO_PAIRS, BACKWARDS, MIXED_ORDER, "int/vector", "int/permuted", 4096, false},
    {ZERO_RANKS, DENSE, DENSE, "double/basic", "double/basic", 8, false},
    {ZERO_RANKS, GAPS, BACKWARDS, "int/basic", "int/vector", 8193, false},
    {SKEWED, DENSE, DENSE, "byte/basic", "byte/basic", 1000000, false},
    {SKEWED, MIXED_ORDER, GAPS, "int/vector", "int/basic", 300000, false},
    {SKEWED, BELOW_ZERO, BACKWARDS, "char/basic", "char/basic", 70000, false},
    {SPARSE, DENSE, DENSE, "int/basic", "int/basic", 40000, false},
    {SPARSE, MIXED_ORDER, BELOW_ZERO, "double+int/pair", "double+int/struct-apart", 64, false},
    {VARIED, DENSE, DENSE, "byte/basic", "byte/basic", 3, false},
    {VARIED, DENSE, DENSE, "int/basic", "int/basic", 64, false},
    {VARIED, DENSE, DENSE, "double/basic", "double/basic", 40000, false},
    {VARIED, GAPS, DENSE, "int/resized", "int/basic", 1000, false},
    {VARIED, DENSE, GAPS, "int/basic", "int/negative-lb", 1000, false},
    {VARIED, BACKWARDS, BACKWARDS, "int/basic", "int/basic", 64, false},
    {VARIED, MIXED_ORDER, MIXED_ORDER, "int/column", "int/basic", 64, false},
    {VARIED, MIXED_ORDER, MIXED_ORDER, "double/basic", "double/column", 1000, false},
    {VARIED, BELOW_ZERO, BELOW_ZERO, "int/negative-offset", "int/nested", 64, false},
    {VARIED, GAPS, BELOW_ZERO, "empty/flat", "empty/wide", 5, false},
    {UNIFORM, SAME_BLOCK, DENSE, "int/basic", "int/basic", 64, false},
    {UNIFORM, SAME_BLOCK, GAPS, "int/vector", "int/basic", 8193, false},
    {VARIED, SAME_BLOCK, MIXED_ORDER, "byte/basic", "byte/basic", 1000, false},
    {UNIFORM, OVERLAPPING, DENSE, "int/basic", "int/basic", 64, false},
    {VARIED, OVERLAPPING, BACKWARDS, "int/column", "int/permuted", 1000, false},
    {VARIED, OVERLAPPING, GAPS, "double/basic", "double/basic", 4096, false},
    {ZERO, DENSE, GAPS, "int/basic", "int/basic", 64, true},
    {ZERO_PAIRS, DENSE, BACKWARDS, "int/basic", "int/basic", 64, true},
    {VARIED, DENSE, DENSE, "byte/basic", "byte/basic", 3, true},
    {VARIED, DENSE, MIXED_ORDER, "int/vector", "int/vector", 1000, true},
    {VARIED, DENSE, BELOW_ZERO, "int/permuted", "int/permuted", 64, true},
    {VARIED, DENSE, GAPS, "double/column", "double/column", 64, true},
    {SPARSE, DENSE, GAPS, "double/basic", "double/basic", 40000, true},
};

void cases_vector(Suite *suite) {
  for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective) {
    if (!is_vector(collective)) continue;
    for (size_t k = 0; k < sizeof vector_cases / sizeof vector_cases[0]; ++k) {
      const VectorCase *which = &vector_cases[k];
      const Communicator comm = k % 3 == 2 ? SHUFFLED : WORLD;
      const Exchange exchange = {.collective = collective,
                                 .send = type_find(which->send_type),
                                 .recv = type_find(which->recv_type),
                                 .block_bytes = which->block_bytes,
                                 .pattern = which->pattern,
                                 .send_placement = which->send,
                                 .recv_placement = which->recv,
                                 .in_place = which->in_place,
                                 .seed = suite->options.seed + k};
      char name[200];
      if (!suite_begin(suite, "%s/%s", exchange_name(&exchange, name, sizeof name), communicator_name(comm))) continue;
      exchange_run(suite, &exchange, communicator(comm));
      suite_end(suite);
    }
  }
}
