/* Random sequences of what a program does: communicators that come and go, exchanges, algorithms, traffic. A sequence
 * is an episode, which begins with nothing and can be repeated alone; all ranks draw the same. */
#ifndef CONFORMANCE_FUZZ_H
#define CONFORMANCE_FUZZ_H

#include "draw.h"
#include "suite.h"

enum { SLOTS = 6, MESSAGES = 3 };

/** A communicator of the program. MPI_COMM_NULL on ranks that it does not have. */
typedef struct {
  bool used; /* the same on all ranks, as all that follows but comm */
  bool inter;
  bool wildcard; /* a receive of anything from anyone waits on it */
  MPI_Comm comm;
} Slot;

/** A message of the program that is under way while other things happen. */
typedef struct {
  bool used;
  int slot, tag;
  size_t bytes;
  unsigned char *sent, *received;
  int left;
  MPI_Request requests[2]; /* send, receive */
} Message;

typedef struct {
  Suite* suite;
  Random random;
  bool soaks;       /* leaves no communicator to MPI_Finalize, and makes none with which the MPI itself loses memory */
  long all_to_alls; /* of this rank */
  Slot slots[SLOTS];
  Message messages[MESSAGES];
} Program;

/** A slot that is in use; slot 0 always is: MPI_COMM_WORLD. @param intra  no intercommunicator */
int draw_slot(Program* program, bool intra);

/** Say what this step does, for messages. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void step_is(Program* program, const char* format, ...);

/* What a program may do next. */
void make_communicator(Program* program);
void drop_communicator(Program* program);
void change_algorithm(Program* program);
void post_message(Program* program);
void use_collective(Program* program); /* another than all-to-all */
void exchange_one(Program* program);
void exchange_several(Program* program);

/** In a soak: threads of each rank exchange at the same time, each on a communicator that is made for it and freed.
 *  Requires MPI_THREAD_MULTIPLE. Collective over MPI_COMM_WORLD. Adds to `all_to_alls` those of this rank. */
void exchange_by_threads(Suite* suite, uint64_t seed, int round, long* all_to_alls);

/** Complete and check the messages on a slot; on all: -1. */
void complete_messages(Program* program, int slot);

/** Free what the program has not. */
void end_program(Program* program);

#endif
