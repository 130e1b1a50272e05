/* The same call again, also with exactly one argument changed: what is kept from one call to the next must not be taken
 * for another call's. */
#include <stdlib.h>

#include "fuzz.h"
#include "oracle.h"

static void change_nothing(Exchange *exchange, Random *random, bool inter) {
  (void)exchange, (void)random, (void)inter;
}

static void change_send_places(Exchange *exchange, Random *random, bool inter) {
  (void)inter;
  const int places = exchange->types_by_peer ? SAME_BLOCK : PLACEMENTS;
  if (is_vector(exchange->collective) && !exchange->in_place)
    exchange->send_placement = (Placement)draw_below(random, places);
}

static void change_receive_places(Exchange *exchange, Random *random, bool inter) {
  (void)inter;
  if (is_vector(exchange->collective)) exchange->recv_placement = (Placement)draw_below(random, SAME_BLOCK);
}

/* Of one pair of ranks; or of all, where they have one. */
static void change_count(Exchange *exchange, Random *random, bool inter) {
  (void)inter;
  const int drawn = 1 + draw_below(random, 7);
  if (is_vector(exchange->collective)) exchange->changed_pair = drawn;
  else exchange->block_bytes = exchange->block_bytes / 2 + drawn;
}

static void change_receive_type(Exchange *exchange, Random *random, bool inter) {
  (void)inter;
  exchange->recv = type_rotate(exchange->recv, draw_below(random, 16));
  if (exchange->in_place) exchange->send = exchange->recv;
}

static void change_send_type(Exchange *exchange, Random *random, bool inter) {
  (void)inter;
  exchange->send = type_rotate(exchange->send, draw_below(random, 16));
  if (exchange->in_place) exchange->recv = exchange->send;
}

static void change_place(Exchange *exchange, Random *random, bool inter) {
  (void)random;
  if (inter) return;
  exchange->in_place = !exchange->in_place;
  exchange->send = exchange->recv;
  exchange->send_placement = DENSE;
}

static void change_form(Exchange *exchange, Random *random, bool inter) {
  const int drawn = draw_below(random, 3);
  exchange->form = drawn < 2 ? exchange_started_form(drawn == 1, inter) : BLOCKING;
  exchange->spec = NULL;
}

static void change_bottom(Exchange *exchange, Random *random, bool inter) {
  (void)random, (void)inter;
  exchange->bottom = !exchange->bottom;
}

static const struct {
  const char *name;
  void (*change)(Exchange *exchange, Random *random, bool inter);
} changes[] = {
    {"send-places", change_send_places},
    {"receive-places", change_receive_places},
    {"count", change_count},
    {"send-type", change_send_type},
    {"receive-type", change_receive_type},
    {"in-place", change_place},
    {"form", change_form},
    {"bottom", change_bottom},
    {"nothing", change_nothing},
};
enum { CHANGES = sizeof changes / sizeof changes[0], CALLS = 6 };

/* Half of them with integers, whose type has one handle for ever. */
static Exchange draw_base(Program *program, int slot) {
  const bool inter = program->slots[slot].inter;
  Exchange base = draw_exchange_for(program, slot);
  if (draw_below(&program->random, 2) == 0) {
    base.send = base.recv = type_find("int/basic");
    base.types_by_rank = base.types_by_peer = false;
  }
  if (draw_below(&program->random, 2) == 0) change_form(&base, &program->random, inter);
  const TypeId plain = type_find("int/basic");
  if (draw_below(&program->random, 3) == 0) /* what is served the shortest way */
    base = (Exchange){.send = plain, .recv = plain, .block_bytes = 8, .seed = base.seed};
  return base;
}

/* It stays under way while equal calls follow, and some ranks start it after others have gone on to these. */
static void start_late(Program *program, int slot, const Exchange *exchange, bool inter) {
  Exchange started = *exchange;
  started.form = exchange_started_form(draw_below(&program->random, 4) == 0, inter);
  started.version = CALLS;
  suite_come_late(program->suite, OFTEN);
  start_on(program, slot, &started);
}

void exchange_again(Program *program) {
  char name[200];
  const int slot = draw_slot(program, false);
  const bool inter = program->slots[slot].inter;
  const Exchange base = draw_base(program, slot);
  step_is(program, "again/slot=%d/%s", slot, exchange_name(&base, name, sizeof name));
  for (int k = 0; k < CALLS; ++k) {
    Exchange exchange = base;
    const int which = draw_below(&program->random, 2 * CHANGES);
    if (which < CHANGES) changes[which].change(&exchange, &program->random, inter);
    exchange.version = k;
    if (which < CHANGES) step_is(program, "/%s", changes[which].name);
    if (draw_below(&program->random, 4) == 0) start_late(program, slot, &exchange, inter);
    run_exchanges(program, &exchange, &slot, 1);
  }
}
