/* Runs a program several times in one job: its main() with each list of words, on each of several numbers of ranks. It is
 * included before the program by -include, and the program is then called as
 *   PROGRAM RANKS[,RANKS]... -- [WORDS]... [-- [WORDS]...]...
 * Meanwhile MPI_COMM_WORLD is a communicator of the first RANKS ranks of the job; for as many as there are it is MPI's own.
 * The other ranks sleep until it is over. MPI_Init initialises MPI at the first run only, MPI_Finalize is called after the last. A run whose
 * main() does not return 0 ends the job. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm cases_world;
static int cases_ranks;
static jmp_buf cases_next;

static int cases_main(int argc, char** argv);

static int cases_begin(int level, int* provided) {
  int begun, got, rank, ranks;
  MPI_Initialized(&begun);
  if (!begun) MPI_Init_thread(NULL, NULL, level, &got);
  else MPI_Query_thread(&got);
  if (provided) *provided = got;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (cases_ranks == ranks) cases_world = MPI_COMM_WORLD;
  else MPI_Comm_split(MPI_COMM_WORLD, rank < cases_ranks ? 0 : MPI_UNDEFINED, rank, &cases_world);
  if (cases_world == MPI_COMM_NULL) longjmp(cases_next, 1);
  return MPI_SUCCESS;
}

static int cases_end(void) {
  if (cases_world != MPI_COMM_WORLD) MPI_Comm_free(&cases_world);
  return MPI_SUCCESS;
}

/* Ends a run on all ranks. Those that have no part in it, or wait for others, leave them the cores. */
static void cases_meet(void) {
  MPI_Request all;
  int over = 0;
  for (MPI_Ibarrier(MPI_COMM_WORLD, &all); MPI_Test(&all, &over, MPI_STATUS_IGNORE), !over;) usleep(1000);
}

/* The words behind the `--` at `first`, as main() gets them; where the next ones begin. */
static int cases_run(int argc, char** argv, int first) {
  char* words[256] = {argv[0]};
  int number = 1;
  volatile int last = first + 1;
  while (last < argc && strcmp(argv[last], "--") != 0 && number < 255) words[number++] = argv[last++];
  if (setjmp(cases_next) != 0) return cases_meet(), last;
  const int status = cases_main(number, words);
  if (status != 0) {
    fprintf(stderr, "cases: status %d on %d ranks:", status, cases_ranks);
    for (int i = 1; i < number; ++i) fprintf(stderr, " %s", words[i]);
    fprintf(stderr, "\n");
    usleep(100000); /* for the launcher to read it, which ends all at once */
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return cases_meet(), last;
}

int main(int argc, char** argv) {
  char* next = argc > 2 ? argv[1] : "";
  while (*next) {
    cases_ranks = (int)strtol(next, &next, 10);
    next += *next == ',';
    for (volatile int first = 2; first < argc;) first = cases_run(argc, argv, first);
  }
  return MPI_Finalize();
}

#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD cases_world
#define MPI_Init(argc, argv) ((void)(argc), (void)(argv), cases_begin(MPI_THREAD_SINGLE, NULL))
#define MPI_Init_thread(argc, argv, level, provided) ((void)(argc), (void)(argv), cases_begin(level, provided))
#define MPI_Finalize() cases_end()
#define main(...) cases_main(__VA_ARGS__)
