/* Measures all-to-alls as it is told: python/swapmeet/measure/bench/session.py launches it and asks. To be run with
 * libswapmeet.so preloaded, on any number of ranks.
 *
 * Rank 0 reads commands from standard input, one a line, and answers on standard output by lines that begin with
 * "measure: ". All ranks carry out each command; the others read nothing. The last line of an answer is "ok", perhaps
 * with a value; "refused", "unknown" (the library or the candidate cannot tell) or "error" (no such command), with a
 * message; or "wrong", with what is wrong in the data. It begins with lines that describe the run, up to "ready RANKS".
 * At the end of the input it ends.
 *
 *   candidate SPEC            ok NUMBER. SPEC: one of the library's, "auto", or "native": the host MPI, past the
 *                             library
 *   call COLLECTIVE SIZES SEED DATATYPE     the exchange that all below is about: "alltoall 64 0 byte",
 *                             "alltoallv uniform:max=1024 7 byte". SIZES: bytes of data of every block, or a workload's
 *                             text, or matrix:FILE, of Alltoallv, for sizes in a file (matrix.h)
 *   check NUMBER              one exchange, of which every byte is looked at
 *   ran NUMBER                ok SPEC REASON: what was executed for this candidate, "native" if the call was left to
 *                             the MPI
 *   estimate NUMBER           ok SECONDS of a call, about
 *   measure NUMBER:CALLS ...  a line "sample LONGEST SHORTEST MEAN" for each, in this order: seconds a call, over ranks
 *   touch 0|1                 whether every rank rewrites its send buffer before each call, untimed
 *   pin                       from now on rank i runs on core i of those of all ranks, in turn
 *   barrier MANY              ok SECONDS that nine of ten barriers take at most
 *   limits                    lines "limit NAME SECONDS": what no exchange of as many bytes can beat (limits.h)
 *   phases NUMBER CALLS       lines "phase NAME SECONDS...": seconds a call of each rank
 *   trace NUMBER FILE         one call, traced into a file
 *   overlap NUMBER CALLS TESTS    a line "overlap ...": non-blocking exchanges with computing in them (overlap.h)
 *   messages within|between PAIRS BYTES WINDOW CALLS    ok SECONDS POSTING (parts.h)
 *   copies memcpy|datatype PIECES BYTES CALLS           ok SECONDS
 *   quit
 *
 * What a sceptic will ask:
 *
 * Are the candidates in the same situation? They send from and receive into the same memory, on page boundaries. All of
 * the library's run on one communicator: each would otherwise have a share of the node's shared memory that depends on
 * how many came before it. So each sample begins with one call that is not timed: it brings back the plan, which is
 * kept, and the caches hold what this candidate left there, not the one before. The host MPI gets the same call,
 * and is called where the library itself would find it: no code of ours is in between.
 *
 * What is a sample? All ranks meet in a barrier; each reads its clock, makes so many calls back to back and reads its
 * clock again; the time is divided by the calls, and the longest over ranks is what an application would wait for.
 * Ranks leave the barrier at different times: those that leave early wait for the others in their first call, and count
 * it. This error is at most one barrier for a whole batch, whatever the number of calls, and makes times longer, never
 * shorter. So batches have to be long against the barrier (`barrier` tells: some microseconds, but milliseconds where
 * ranks share cores under an MPI whose ranks keep a core until their time slice ends), and it is for who asks to see to
 * that. On one node the barrier is in shared memory and gives cores away.
 *
 * Are back-to-back calls what applications do? Some. Their ranks drift apart within a batch, as far as the algorithm
 * lets them, and the send buffer stays in cache. With `touch` each call is preceded by writes and a meeting of all: the
 * other end of what applications do, but then every call bears its own skew.
 *
 * Is anything else running? Ranks without a command to carry out sleep; lines are printed only when all samples of a
 * command have been taken. */
#define _GNU_SOURCE
#include "measure.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inside.h"
#include "overlap.h"
#include "parts.h"
#include "samples.h"

enum { MOST_CALLS = 1000000000, MOST_LINE = 1 << 20 };

typedef struct {
  World world;
  Candidates *candidates;
  Cell *cell; /* NULL: none has been set up */
  bool touch;
} Run;

/* A whole number up to `most` at the beginning of `text`, which ends there; or, if `behind` is given, moves on to what
 * follows. -1: there is none. */
static int whole(const char *text, int most, const char **behind) {
  char *end;
  if (*text < '0' || *text > '9') return -1;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno || value > most || (!behind && *end)) return -1;
  if (behind) *behind = end;
  return (int)value;
}

static int candidate_of(const Run *run, const char *text) {
  return whole(text, candidates_count(run->candidates) - 1, NULL);
}

static void do_candidate(Run *run, char *spec) {
  char why[TEXT] = "";
  const int number = candidates_add(run->candidates, spec, why, sizeof why);
  if (number < 0) answer(&run->world, "refused %s", why);
  else answer(&run->world, "ok %d", number);
}

static void do_call(Run *run, char *words) {
  char why[TEXT] = "", *word[4], *left = NULL;
  for (int i = 0; i < 4; ++i) word[i] = strtok_r(i ? NULL : words, " ", &left);
  if (!word[3] || strtok_r(NULL, " ", &left))
    return answer(&run->world, "error call: expected COLLECTIVE SIZES SEED DATATYPE");
  cell_free(run->cell);
  candidates_new_cell(run->candidates);
  run->cell = cell_make(&run->world, word[0], word[1], word[2], word[3], why, sizeof why);
  if (run->cell) answer(&run->world, "ok");
  else answer(&run->world, "refused %s", why);
}

static void do_check(Run *run, int candidate) {
  char report[TEXT] = "";
  candidates_select(run->candidates, candidate, run->cell);
  cell_fill(run->cell);
  candidates_call(run->candidates, candidate, run->cell);
  const bool right = cell_verify(run->cell, report, sizeof report);
  int mine = !right, wrong = 0, first = right ? run->world.ranks : run->world.rank, reporter = 0;
  MPI_Allreduce(&mine, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&first, &reporter, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!wrong) return answer(&run->world, "ok");
  MPI_Bcast(report, sizeof report, MPI_CHAR, reporter, MPI_COMM_WORLD);
  answer(&run->world, "wrong %s; %d of %d ranks are wrong", report, wrong, run->world.ranks);
}

static void do_ran(Run *run, int candidate) {
  const char *reason;
  candidates_select(run->candidates, candidate, run->cell);
  const char *const spec = candidates_ran(run->candidates, candidate, &reason);
  answer(&run->world, "ok %s %s", spec, reason);
}

/* Nothing is printed before all samples have been taken, and nothing measured if a word is wrong. */
static void do_measure(Run *run, char *words) {
  size_t many = 0, room = 1;
  for (const char *c = words; *c; ++c) room += *c == ' ';
  struct {
    int candidate, calls;
    Sample sample;
  } *const taken = malloc(room * sizeof *taken);
  char *left = NULL;
  for (char *word = strtok_r(words, " ", &left); word; word = strtok_r(NULL, " ", &left), ++many) {
    const char *colon = NULL;
    taken[many].candidate = whole(word, candidates_count(run->candidates) - 1, &colon);
    taken[many].calls = colon && *colon == ':' ? whole(colon + 1, MOST_CALLS, NULL) : -1;
    if (taken[many].candidate >= 0 && taken[many].calls > 0) continue;
    answer(&run->world, "error measure: \"%.40s\" is no NUMBER:CALLS of a candidate", word);
    free(taken);
    return;
  }
  for (size_t i = 0; i < many; ++i)
    taken[i].sample = sample(&run->world, run->candidates, taken[i].candidate, run->cell, taken[i].calls, run->touch);
  for (size_t i = 0; i < many; ++i)
    answer(&run->world, "sample %.9e %.9e %.9e", taken[i].sample.longest, taken[i].sample.shortest,
           taken[i].sample.mean);
  answer(&run->world, "ok");
  free(taken);
}

/* Commands about a candidate in the present cell. `words`: its number, and perhaps more. Returns whether `name` is
 * one. */
static bool about_candidate(Run *run, const char *name, char *words) {
  static const char *const names[] = {"check", "ran", "estimate", "phases", "trace"};
  int which = 0;
  while (which < 5 && strcmp(name, names[which])) ++which;
  if (which == 5) return false;
  char *rest = words + strcspn(words, " ");
  if (*rest) *rest++ = '\0';
  const int candidate = candidate_of(run, words), calls = which == 3 ? whole(rest, MOST_CALLS, NULL) : 1;
  if (candidate < 0) answer(&run->world, "error %s: \"%.40s\" is no candidate's number", name, words);
  else if (calls < 1) answer(&run->world, "error %s: expected NUMBER CALLS", name);
  else if (which != 3 && (which == 4) != (*rest != '\0')) answer(&run->world, "error %s: wrong number of words", name);
  else if (which == 0) do_check(run, candidate);
  else if (which == 1) do_ran(run, candidate);
  else if (which == 2)
    answer(&run->world, "ok %.9e", estimate(&run->world, run->candidates, candidate, run->cell, run->touch));
  else if (which == 3) answer_phases(&run->world, run->candidates, candidate, run->cell, calls);
  else answer_trace(&run->world, run->candidates, candidate, run->cell, rest);
  return true;
}

static void do_overlap(Run *run, const char *words) {
  const char *rest = words;
  const int candidate = whole(words, candidates_count(run->candidates) - 1, &rest);
  const int calls = candidate >= 0 && *rest == ' ' ? whole(rest + 1, MOST_CALLS, &rest) : -1;
  const int tests = calls > 0 && *rest == ' ' ? whole(rest + 1, MOST_TESTS, NULL) : -1;
  if (tests < 0) answer(&run->world, "error overlap: expected NUMBER CALLS TESTS");
  else answer_overlap(&run->world, run->candidates, candidate, run->cell, calls, tests);
}

/* Commands about the present cell. Returns whether `name` is one. */
static bool about_cell(Run *run, const char *name, char *words) {
  if (!strcmp(name, "measure")) do_measure(run, words);
  else if (!strcmp(name, "overlap")) do_overlap(run, words);
  else if (!strcmp(name, "limits") && !*words) answer_limits(&run->world, run->cell);
  else return about_candidate(run, name, words);
  return true;
}

static bool needs_cell(const char *name) {
  static const char *const names[] = {"measure", "limits", "overlap", "check", "ran", "estimate", "phases", "trace"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (!strcmp(name, names[i])) return true;
  return false;
}

/* Commands about single messages and copies. Returns whether `name` is one. */
static bool about_parts(const World *world, const char *name, const char *words) {
  static const char *const names[] = {"messages", "copies"}, *const ways[2][2] = {{"within", "between"},
                                                                                  {"memcpy", "datatype"}};
  const int which = !strcmp(name, names[1]), wanted = 4 - which;
  if (strcmp(name, names[which])) return false;
  int way = 2, many = 0, number[4];
  const char *rest = words + strcspn(words, " ");
  for (int i = 0; i < 2; ++i)
    if (strlen(ways[which][i]) == (size_t)(rest - words) && !strncmp(words, ways[which][i], strlen(ways[which][i])))
      way = i;
  while (*rest == ' ' && many < wanted && (number[many] = whole(rest + 1, MOST_CALLS, &rest)) > 0) ++many;
  if (way == 2 || many < wanted || *rest)
    answer(world, "error %s: expected a way and %d numbers from 1 on", name, wanted);
  else if (which == 0) answer_messages(world, way == 1, number[0], number[1], number[2], number[3]);
  else answer_copies(world, way == 1, number[0], number[1], number[2]);
  return true;
}

static void obey(Run *run, char *name) {
  char *words = name + strcspn(name, " ");
  if (*words) *words++ = '\0';
  if (needs_cell(name) && !run->cell) {
    answer(&run->world, "error %s: no exchange has been set up", name);
  } else if (about_cell(run, name, words) || about_parts(&run->world, name, words)) {
    return;
  } else if (!strcmp(name, "candidate")) {
    do_candidate(run, words);
  } else if (!strcmp(name, "call")) {
    do_call(run, words);
  } else if (!strcmp(name, "touch") && whole(words, 1, NULL) >= 0) {
    run->touch = *words == '1';
    answer(&run->world, "ok");
  } else if (!strcmp(name, "pin") && !*words) {
    answer(&run->world, "ok %d", limits_cores(MPI_COMM_WORLD, true));
  } else if (!strcmp(name, "barrier") && whole(words, MOST_BARRIERS, NULL) > 0) {
    answer(&run->world, "ok %.9e", barrier_seconds(&run->world, whole(words, MOST_BARRIERS, NULL)));
  } else {
    answer(&run->world, "error no such command: %.60s", name);
  }
}

/* Broadcasts a number from rank 0; ranks that have nothing to do until then leave their cores to others. */
static int told(const World *world, int number) {
  MPI_Request request;
  MPI_Ibcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  for (int tries = 0, done = 0;; ++tries) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return number;
    if (tries > 100 && world->rank != 0) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  }
}

/* The next command, the same on all ranks; to be freed. NULL: there are no more. */
static char *next_command(const World *world) {
  char *line = NULL;
  size_t room = 0;
  ssize_t length = -1;
  if (world->rank == 0) {
    length = getline(&line, &room, stdin);
    if (length >= 0) length = (ssize_t)strcspn(line, "\r\n");
    if (length >= 0) line[length] = '\0';
    if (length > MOST_LINE) line[length = MOST_LINE] = '\0';
  }
  const int bytes = told(world, (int)length) + 1;
  if (bytes > 0 && world->rank != 0) line = malloc((size_t)bytes);
  if (bytes > 0) MPI_Bcast(line, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (bytes > 0 && strcmp(line, "quit")) return line;
  free(line);
  return NULL;
}

static void describe(const World *world) {
  const char *(*version)(void);
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, members = 0, nodes = 0;
  *(void **)&version = dlsym(RTLD_DEFAULT, "swapmeet_version");
  MPI_Get_library_version(mpi, &length);
  mpi[strcspn(mpi, "\n")] = '\0';
  MPI_Comm_rank(world->node, &members);
  members = members == 0;
  MPI_Reduce(&members, &nodes, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  const int cores = limits_cores(MPI_COMM_WORLD, false);
  answer(world, "mpi %s", mpi);
  answer(world, "library %s", version ? version() : "none");
  answer(world, "nodes %d", nodes);
  answer(world, "cores %d", cores);
  answer(world, "ready %d", world->ranks);
}

/* Whether the library is to execute non-blocking exchanges by threads. */
static bool exchanges_by_threads(void) {
  const char *const asked = getenv("SWAPMEET_NONBLOCKING");
  return asked && strcmp(asked, "thread") == 0;
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, exchanges_by_threads() ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  Run run = {0};
  World *const world = &run.world;
  char why[TEXT] = "";
  MPI_Comm_size(MPI_COMM_WORLD, &world->ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &world->node);
  world->meeting = limits_begin(MPI_COMM_WORLD, 1, why, sizeof why);
  run.candidates = candidates_begin(world);
  describe(world);
  for (char *line; (line = next_command(world)); free(line)) obey(&run, line);
  cell_free(run.cell);
  candidates_end(run.candidates);
  if (world->meeting) limits_end(world->meeting);
  MPI_Comm_free(&world->node);
  MPI_Finalize();
  return 0;
}
