/* What a program does besides all-to-all: messages that are under way meanwhile, and other collectives. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "oracle.h"

static uint64_t key_of(int slot, int tag, int source) { return oracle_key((uint64_t)(1000 * slot + tag), source, 0); }

/* To the next rank, small or beyond any eager limit; received from anyone with any tag, if no other one of the slot
 * is. */
void post_message(Program *program) {
  static const size_t sizes[] = {0, 8, 5000, 300000};
  const int slot = draw_slot(program, true), size = draw_below(&program->random, 4);
  const bool wildcard = draw_below(&program->random, 2) == 0;
  int place = 0;
  while (place < MESSAGES && program->messages[place].used) ++place;
  if (place == MESSAGES || program->slots[slot].wildcard) return complete_messages(program, slot);
  for (int k = 0; k < MESSAGES; ++k)
    if (wildcard && program->messages[k].used && program->messages[k].slot == slot)
      return complete_messages(program, slot);
  step_is(program, "message/slot=%d/%zuB%s", slot, sizes[size], wildcard ? "/wildcard" : "");
  Message message = {.used = true, .slot = slot, .tag = 40 + place, .bytes = sizes[size]};
  const MPI_Comm comm = program->slots[slot].comm;
  int rank = 0, ranks = 1;
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
  }
  message.requests[0] = message.requests[1] = MPI_REQUEST_NULL;
  program->slots[slot].wildcard = wildcard;
  if (ranks > 1) { /* on one rank MPICH 5.0.2's own messages match an MPI_ANY_TAG receive */
    message.left = (rank + ranks - 1) % ranks;
    message.sent = malloc(message.bytes + 1);
    message.received = malloc(message.bytes + 1);
    oracle_write(message.sent, ORACLE_DATA, key_of(slot, message.tag, rank), 0, message.bytes);
    memset(message.received, 0xff, message.bytes);
    MPI_Irecv(message.received, (int)message.bytes, MPI_BYTE, wildcard ? MPI_ANY_SOURCE : message.left,
              wildcard ? MPI_ANY_TAG : message.tag, comm, &message.requests[1]);
    MPI_Isend(message.sent, (int)message.bytes, MPI_BYTE, (rank + 1) % ranks, message.tag, comm, &message.requests[0]);
  }
  program->messages[place] = message;
}

void complete_messages(Program *program, int slot) {
  for (int k = 0; k < MESSAGES; ++k) {
    Message *message = &program->messages[k];
    if (!message->used || (slot >= 0 && message->slot != slot)) continue;
    MPI_Status statuses[2];
    int got = 0;
    const bool sent = message->requests[0] != MPI_REQUEST_NULL || message->requests[1] != MPI_REQUEST_NULL;
    MPI_Waitall(2, message->requests, statuses);
    if (sent) MPI_Get_count(&statuses[1], MPI_BYTE, &got);
    if (sent && (statuses[1].MPI_SOURCE != message->left || statuses[1].MPI_TAG != message->tag ||
                 (size_t)got != message->bytes))
      suite_fail(program->suite, "the program's receive got %d bytes from %d with tag %d; expected %zu, %d and %d", got,
                 statuses[1].MPI_SOURCE, statuses[1].MPI_TAG, message->bytes, message->left, message->tag);
    else if (sent && oracle_compare(message->received, ORACLE_DATA, key_of(message->slot, message->tag, message->left),
                                    0, message->bytes) != message->bytes)
      suite_fail(program->suite, "the program's message from %d has wrong data", message->left);
    free(message->sent);
    free(message->received);
    program->slots[message->slot].wildcard = false;
    *message = (Message){.used = false};
  }
}

void use_collective(Program *program) {
  const int slot = draw_slot(program, true), which = draw_below(&program->random, 4);
  const MPI_Comm comm = program->slots[slot].comm;
  step_is(program, "collective=%d/slot=%d", which, slot);
  if (comm == MPI_COMM_NULL) return;
  int rank, ranks, sum = 0;
  MPI_Request request;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  switch (which) {
    case 0: MPI_Barrier(comm); break;
    case 1: MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm); break;
    case 2:
      if (rank == 0) sum = ranks * (ranks - 1) / 2;
      MPI_Bcast(&sum, 1, MPI_INT, 0, comm);
      break;
    default: MPI_Ibarrier(comm, &request); MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if ((which == 1 || which == 2) && sum != ranks * (ranks - 1) / 2)
    suite_fail(program->suite, "another collective gave %d", sum);
}
