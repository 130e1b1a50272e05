/* Random sequences of what a program does: communicators that come and go, exchanges, algorithms, traffic. A sequence
 * is an episode, which begins with nothing and can be repeated alone; all ranks draw the same. */
#ifndef CONFORMANCE_FUZZ_H
#define CONFORMANCE_FUZZ_H

#include "draw.h"
#include "operation.h"
#include "suite.h"

enum { SLOTS = 6, MESSAGES = 3, STARTED = 3, REQUESTS = 6, TOGETHER = 6 };

/** A communicator of the program. MPI_COMM_NULL on ranks that it does not have. */
typedef struct {
  bool used; /* the same on all ranks, as all that follows but comm */
  bool inter;
  bool wildcard; /* a receive of anything from anyone waits on it */
  bool pending;  /* MPI_Comm_idup makes it: nothing uses it before */
  MPI_Comm comm;
  MPI_Request making; /* where it is pending */
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

/** An exchange that stays under way while the program goes on. */
typedef struct {
  bool used; /* the same on all ranks, as all that follows but `here` */
  bool here; /* this rank takes part */
  bool persistent;
  int slot; /* -1: its communicator has been freed */
  int run;
} Started;

/** A persistent request that is inactive and not freed yet, on this rank: each rank frees its own when it likes. */
typedef struct {
  int slot;
  MPI_Request request; /* MPI_REQUEST_NULL: none */
} Unfreed;

/** What an episode is made of: of the steps of all programs, or of those from before exchanges stayed under way, whose
 *  seeds are kept; of the steps of threads; or of calls to which one rank gives another count than the others. */
typedef enum { MIXED, PLAIN, THREADED, MISTAKEN } Kind;

typedef struct {
  uint64_t seed;
  int number, steps;
  Kind kind;
  int threads; /* THREADED: of each rank */
  bool idups;  /* MPI_Comm_idup stays pending while the program goes on */
  bool soaks;  /* leaves no communicator to MPI_Finalize, and makes none with which the MPI itself loses memory */
} Episode;

typedef struct {
  Suite* suite;
  Random random;
  const Episode* episode;
  long all_to_alls; /* of this rank */
  Slot slots[SLOTS];
  Message messages[MESSAGES];
  Started started[STARTED];
  Operation operations[STARTED]; /* of those */
  Unfreed unfreed[REQUESTS];
} Program;

/** A slot that is in use; slot 0 always is. @param intra  no intercommunicator */
int draw_slot(Program* program, bool intra);

/** A number of each rank, such as its colour: drawn by those alone that are asked, so not from the common sequence. */
int drawn_by_rank(const Program* program, int rank, int limit);

/** An exchange for a slot, in one of four plans by an algorithm of its own. */
Exchange draw_exchange_for(Program* program, int slot);

/** Run exchanges that are under way together, one on each of the slots; at most TOGETHER. */
void run_exchanges(Program* program, const Exchange exchanges[], const int slots[], int number);

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
void exchange_again(Program* program); /* like the last time, but for at most one argument */
void start_exchange(Program* program);
void finish_exchanges(Program* program); /* of those that are started */
void start_many(Program* program);       /* and small ones */
void make_mistake(Program* program);     /* one rank calls with another count */
void duplicate_beside(Program* program); /* by MPI_Comm_idup, several of them pending beside exchanges */
void make_anew(Program* program);        /* the first communicator, as a duplicate of itself */

/** Run an episode on `comm`. @param thread  that runs it, or -1. @return this rank's all-to-alls */
long run_program(Suite* suite, const Episode* episode, int thread, MPI_Comm comm);

/** Threads of each rank each run a program, on a communicator that is made for it and freed. Requires
 *  MPI_THREAD_MULTIPLE. Collective over MPI_COMM_WORLD. @return this rank's all-to-alls */
long run_threads(Suite* suite, const Episode* episode);

/** Start an exchange that stays under way. @return false: no more fit */
bool start_on(Program* program, int slot, const Exchange* exchange);

/** Complete what is under way on a slot; on all: -1. Non-blocking exchanges may go on without their communicator. */
void end_exchanges(Program* program, int slot, bool nonblocking_too);

/** Free persistent requests: now and then one, or all of a slot, or of all: -1. */
void free_some_request(Program* program);
void free_requests(Program* program, int slot);

/** Wait for what MPI_Comm_idup makes. */
void complete_idups(Program* program);

/** Complete and check the messages on a slot; on all: -1. */
void complete_messages(Program* program, int slot);

/** Free what the program has not. */
void end_program(Program* program);

#endif
