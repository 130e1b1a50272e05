/* Alltoallv and Alltoallw with the sizes of every kind of workload (tools/workload/workload.h), in basic types and one
 * with gaps, dense, with gaps and shuffled, and in place, where the sizes of a pair of ranks are the same both ways. */
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "communicators.h"
#include "exchange.h"

static const struct {
  const char *text;
  int most_ranks; /* 0: any */
} workloads[] = {
    {"constant:bytes=64", 0},
    {"uniform:max=2KiB", 0},
    {"normal:mean=512,deviation=256", 0}, /* one in 22 is clamped */
    {"power-law:exponent=0.99,max=4KiB", 0},
    {"power-law:exponent=2,max=4KiB", 0},
    {"skewed:exponent=0.99,max=4KiB,of=source", 0},
    {"skewed:exponent=0.99,max=4KiB,of=destination", 0},
    {"sparse:density=0.05,bytes=4KiB", 0},
    {"sparse:density=0.5,bytes=1KiB", 0},
    {"hot-spot:bytes=8,hot=1MiB,source=0,destination=1", 8},
    {"hot-spot:bytes=8,hot=16KiB,destination=1", 0}, /* a rank that gets much from all */
    {"hot-spot:bytes=0,hot=16KiB,source=1", 0},      /* one that is alone in sending */
};

static const struct {
  const char *send_type, *recv_type;
  Placement send, recv;
  bool in_place;
} variants[] = {
    {"byte/basic", "byte/basic", DENSE, DENSE, false},
    {"int/basic", "int/basic", GAPS, MIXED_ORDER, false},
    {"int/vector", "int/resized", MIXED_ORDER, GAPS, false},
    {"int/basic", "int/basic", DENSE, MIXED_ORDER, true},
};

static Workload parse(const char *text) {
  Workload workload;
  char message[300];
  if (workload_parse(text, &workload, message, sizeof message)) return workload;
  fprintf(stderr, "conformance: bug: workload \"%s\": %s\n", text, message);
  abort();
}

static void run_workload(Suite *suite, Collective collective, size_t which) {
  const Workload workload = parse(workloads[which].text);
  for (size_t k = 0; k < sizeof variants / sizeof variants[0]; ++k) {
    const Communicator comm = (which + k) % 3 == 2 ? SHUFFLED : WORLD;
    const Exchange exchange = {.collective = collective,
                               .send = type_find(variants[k].send_type),
                               .recv = type_find(variants[k].recv_type),
                               .workload = &workload,
                               .send_placement = variants[k].send,
                               .recv_placement = variants[k].recv,
                               .in_place = variants[k].in_place,
                               .seed = suite->options.seed + k};
    char name[220];
    if (!suite_begin(suite, "%s/%s", exchange_name(&exchange, name, sizeof name), communicator_name(comm))) continue;
    if (workloads[which].most_ranks > 0 && suite->ranks > workloads[which].most_ranks)
      suite_skip(suite, "so many ranks would make it slow");
    else exchange_run(suite, &exchange, communicator(comm));
    suite_end(suite);
  }
}

void cases_workload(Suite *suite) {
  for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective)
    for (size_t which = 0; is_vector(collective) && which < sizeof workloads / sizeof workloads[0]; ++which)
      run_workload(suite, collective, which);
}
