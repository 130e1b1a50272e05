/* Random programs, from a seed: runs episodes of them and checks every byte; or as many as it takes to make so many
 * all-to-alls, some of them by several threads, and checks that what the process holds does not grow (a soak). */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint.h"
#include "oracle.h"

typedef struct {
  Options suite;
  int episodes, episode, steps; /* episode: this one alone, or -1 */
  long soak;                    /* so many all-to-alls of rank 0; 0: none, but episodes */
} FuzzOptions;

void step_is(Program *program, const char *format, ...) {
  char *name = program->suite->name;
  const size_t length = strlen(name);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(name + length, sizeof program->suite->name - length, format, arguments);
  va_end(arguments);
}

/* How often, of all. */
static const struct {
  int weight;
  void (*step)(Program *program);
} steps[] = {
    {14, exchange_one},     {5, exchange_several}, {4, change_algorithm}, {3, make_communicator},
    {2, drop_communicator}, {2, post_message},     {2, use_collective},
};

static void step(Program *program) {
  int total = 0, k = 0;
  for (size_t kind = 0; kind < sizeof steps / sizeof steps[0]; ++kind) total += steps[kind].weight;
  for (int drawn = draw_below(&program->random, total); drawn >= steps[k].weight; ++k) drawn -= steps[k].weight;
  steps[k].step(program);
}

/* @return whether all went well, as far as rank 0 knows. */
static bool run_episode(Suite *suite, const FuzzOptions *options, int episode, long *all_to_alls) {
  const unsigned long long seed = options->suite.seed;
  const int failed = suite->failed;
  Program program = {
      .suite = suite, .random = {oracle_mix(seed) + oracle_mix((uint64_t)episode), 0}, .soaks = options->soak > 0};
  program.slots[0] = (Slot){.used = true, .comm = MPI_COMM_WORLD};
  for (int k = 0; k < options->steps; ++k) {
    suite_begin(suite, "seed=%llu/episode=%d/step=%d/", seed, episode, k);
    step(&program);
    if (k + 1 == options->steps) end_program(&program);
    suite_end(suite);
  }
  *all_to_alls += program.all_to_alls;
  return suite->failed == failed;
}

static void print_repeat(const char *program, const Suite *suite, const FuzzOptions *options, int episode) {
  static const char *const variables[] = {"LD_PRELOAD", "SWAPMEET_ALGORITHM", "SWAPMEET_NODES", "SWAPMEET_NONBLOCKING"};
  if (suite->rank > 0) return;
  printf("repeat that episode: mpiexec -n %d env", suite->ranks);
  for (size_t k = 0; k < sizeof variables / sizeof variables[0]; ++k) {
    const char *value = getenv(variables[k]);
    if (value) printf(" '%s=%s'", variables[k], value);
  }
  printf(" %s --seed %llu --steps %d --episode %d\n", program, (unsigned long long)options->suite.seed, options->steps,
         episode);
  fflush(stdout);
}

static void run_episodes(Suite *suite, const FuzzOptions *options, const char *program) {
  const int first = options->episode < 0 ? 0 : options->episode,
            last = options->episode < 0 ? options->episodes : first + 1;
  bool repeated = false;
  long all_to_alls = 0;
  for (int episode = first; episode < last; ++episode)
    if (!run_episode(suite, options, episode, &all_to_alls) && !repeated) {
      print_repeat(program, suite, options, episode);
      repeated = true;
    }
}

/* The first third of the calls fills caches; what the second third leaves is compared with what the last one leaves. */
static void soak(Suite *suite, const FuzzOptions *options) {
  long all_to_alls = 0, done = 0;
  Footprint least[2] = {footprint_most, footprint_most};
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  for (int episode = 0; done < options->soak; ++episode) {
    run_episode(suite, options, episode, &all_to_alls);
    if (level == MPI_THREAD_MULTIPLE) exchange_by_threads(suite, options->suite.seed, episode, &all_to_alls);
    done = all_to_alls;
    MPI_Bcast(&done, 1, MPI_LONG, 0, suite->comm);
    const Footprint now = footprint();
    if (3 * done > options->soak) footprint_least(&least[3 * done > 2 * options->soak], &now);
  }
  suite_begin(suite, "soak/seed=%llu/%ld all-to-alls", (unsigned long long)options->suite.seed, done);
  footprint_compare(suite, &least[0], &least[1]);
  if (suite->rank == 0) {
    printf("%ld all-to-alls of rank 0\n", done);
    footprint_print("after a third", &least[0]);
    footprint_print("at the end", &least[1]);
  }
  suite_end(suite);
}

static bool parse(int argc, char **argv, FuzzOptions *options) {
  for (int k = 1; k < argc; k += 2) {
    char *end = "";
    if (k + 1 == argc) return false;
    const unsigned long long value = strtoull(argv[k + 1], &end, 10);
    if (*end != '\0') return false;
    if (strcmp(argv[k], "--seed") == 0) options->suite.seed = value;
    else if (strcmp(argv[k], "--episodes") == 0) options->episodes = (int)value;
    else if (strcmp(argv[k], "--episode") == 0) options->episode = (int)value;
    else if (strcmp(argv[k], "--steps") == 0) options->steps = (int)value;
    else if (strcmp(argv[k], "--soak") == 0) options->soak = (long)value;
    else return false;
  }
  return true;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  FuzzOptions options = {.suite = {.seed = 1}, .episodes = 10, .episode = -1, .steps = 50};
  Suite suite;
  const bool sensible = parse(argc, argv, &options);
  suite_open(&suite, &options.suite);
  if (!sensible) {
    if (suite.rank == 0)
      fprintf(stderr, "usage: %s [--seed S] [--episodes N | --episode E | --soak N] [--steps N]\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  if (options.soak > 0 && options.episode < 0) soak(&suite, &options);
  else run_episodes(&suite, &options, argv[0]);
  types_close();
  const int status = suite_close(&suite);
  MPI_Finalize();
  return status;
}
