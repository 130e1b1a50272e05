/* All-to-alls of any collective, form and arguments, by any algorithm. */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "plans.h"

/* The whole grammar: families, orders, windows, completions, radices, dimensions, layouts, packings, treatments of
 * sizes, thresholds, segments, leaders, transports; and what is not in it. Those that cannot serve a communicator leave
 * it to the host MPI. */
static const char *const specs[] = {
    "auto",
    "native",
    "native(sizes=padded,direct=never)",
    "native(sizes=padded,direct=100)",
    "direct(order=shift,window=1,complete=all)",
    "direct(order=shift,window=2,complete=any,post=interleaved)",
    "direct(order=xor,window=2,complete=test,post=granted)",
    "direct(order=random,window=3,complete=any,segment=512,seed=7)",
    "direct(order=scatter,window=all,complete=all,segment=100)",
    "direct(order=random,window=2,complete=test,post=granted,sizes=padded,direct=100)",
    "direct(order=shift,window=all,intra=shm)",
    "direct(order=random,window=1,intra=cma)",
    "direct(order=random,window=all,complete=any,intra=rows)",
    "direct(order=scatter,window=2,complete=any,intra=auto,segment=1KiB)",
    "bruck(radix=2,layout=basic,pack=memcpy,window=1)",
    "bruck(radix=3,layout=modified,pack=datatype,window=all,complete=any)",
    "bruck(radix=root,layout=zero-rotation,window=2,complete=test,post=interleaved)",
    "bruck(radix=all,layout=zero-copy,pack=datatype,window=all)",
    "bruck(radix=3-2,layout=zero-copy,window=1,intra=shm)",
    "bruck(dims=2d,radix=3/2,sizes=ahead,window=2,layout=modified,direct=64)",
    "bruck(dims=3d,radix=all,sizes=total,window=all,direct=never)",
    "bruck(dims=groups:2/4,radix=2,sizes=combined,window=1,direct=0,layout=zero-copy)",
    "bruck(dims=nodes,radix=2,sizes=total,window=2,messages=staggered,direct=auto)",
    "bruck(dims=nodes,radix=all/2,sizes=ahead,window=1,direct=0,intra=auto)",
    "bruck(dims=nodes,radix=root/all,layout=basic,sizes=padded,direct=1KiB)",
    "bruck(dims=5x1,radix=2,sizes=combined)",
    "bruck(radix=2,pack=datatype,complete=any,sizes=padded,direct=auto)",
    "bruck(radix=2,layout=basic,sizes=padded,direct=never,intra=cma)",
    "two-layer(r1=2,r2=all)",
    "two-layer-staggered(intra=auto,sizes=total,direct=never)",
    "leaders(window=all,complete=all,per-node=1)",
    "leaders(window=1,complete=any,per-node=2,intra=shm,pack=datatype)",
    "node-leaders(per-node=all)",
    "hybrid",
    "sloav",
    "shared-memory",
    "padded-alltoall",
};
static const char *const malformed[] = {"bruck(radix=1)", "no-such-algorithm", "direct(window=0)", "bruck("};

enum { SPECS = sizeof specs / sizeof specs[0], MALFORMED = sizeof malformed / sizeof malformed[0], SEVERAL = 4 };

/* Where nothing is to grow MPI_COMM_WORLD keeps its own: it would keep the plans of all others, too. */
void change_algorithm(Program *program) {
  const int slot = draw_slot(program, true), which = draw_below(&program->random, SPECS + 2);
  const char *wrong = malformed[draw_below(&program->random, MALFORMED)];
  const char *spec = which < SPECS ? specs[which] : which == SPECS ? NULL : wrong;
  step_is(program, "algorithm/slot=%d/%s", slot, spec ? spec : "NULL");
  if (program->episode->soaks && slot == 0) return;
  int code = MPI_SUCCESS, class = MPI_SUCCESS;
  if (program->slots[slot].comm == MPI_COMM_NULL || !set_algorithm(program->slots[slot].comm, spec, &code)) return;
  MPI_Error_class(code, &class);
  if (class != (which <= SPECS ? MPI_SUCCESS : MPI_ERR_ARG))
    suite_fail(program->suite, "swapmeet_set_algorithm returned %d", code);
}

/* The program has ANY_TAG receives on some slots: no messages of its own there. */
void run_exchanges(Program *program, const Exchange exchanges[], const int slots[], int number) {
  MPI_Comm comms[TOGETHER];
  Exchange mine[TOGETHER];
  int here = 0;
  for (int k = 0; k < number; ++k) {
    const MPI_Comm comm = program->slots[slots[k]].comm;
    if (comm == MPI_COMM_NULL) continue;
    mine[here] = exchanges[k];
    comms[here++] = comm;
  }
  const Slot *first = &program->slots[slots[0]];
  const bool quiet = first->wildcard || first->inter;
  program->all_to_alls += (long)here * EXCHANGE_RUNS;
  if (here > 0) exchange_run_several(program->suite, mine, comms, here, quiet ? MPI_COMM_NULL : first->comm);
}

Exchange draw_exchange_for(Program *program, int slot) {
  Exchange exchange = draw_exchange(&program->random, program->slots[slot].inter);
  const int which = draw_below(&program->random, 4 * SPECS);
  if (exchange.form == PLAN && which < SPECS) exchange.spec = specs[which];
  return exchange;
}

void exchange_one(Program *program) {
  const int slot = draw_slot(program, false);
  const Exchange exchange = draw_exchange_for(program, slot);
  char name[200];
  step_is(program, "slot=%d/%s", slot, exchange_name(&exchange, name, sizeof name));
  run_exchanges(program, &exchange, &slot, 1);
}

void exchange_several(Program *program) {
  Exchange exchanges[SEVERAL];
  int slots[SEVERAL];
  const int number = 2 + draw_below(&program->random, SEVERAL - 1);
  char text[400] = "";
  for (int k = 0; k < number; ++k) {
    slots[k] = draw_slot(program, false);
    exchanges[k] = draw_exchange_for(program, slots[k]);
    char name[200];
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%sslot=%d/%s", k > 0 ? " + " : "", slots[k],
             exchange_name(&exchanges[k], name, sizeof name));
  }
  step_is(program, "%s", text);
  run_exchanges(program, exchanges, slots, number);
}
