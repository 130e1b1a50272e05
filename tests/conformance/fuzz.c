/* Random programs, from a seed: runs episodes of them and checks every byte. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

typedef struct {
  Options suite;
  int episodes, episode, steps; /* episode: this one alone, or -1 */
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
static bool run_episode(Suite *suite, const FuzzOptions *options, int episode) {
  const unsigned long long seed = options->suite.seed;
  const int failed = suite->failed;
  Program program = {.suite = suite, .random = {oracle_mix(seed) + oracle_mix((uint64_t)episode), 0}};
  program.slots[0] = (Slot){.used = true, .comm = MPI_COMM_WORLD};
  for (int k = 0; k < options->steps; ++k) {
    suite_begin(suite, "seed=%llu/episode=%d/step=%d/", seed, episode, k);
    step(&program);
    if (k + 1 == options->steps) end_program(&program);
    suite_end(suite);
  }
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
    if (suite.rank == 0) fprintf(stderr, "usage: %s [--seed S] [--episodes N | --episode E] [--steps N]\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  const int first = options.episode < 0 ? 0 : options.episode,
            last = options.episode < 0 ? options.episodes : first + 1;
  bool repeated = false;
  for (int episode = first; episode < last; ++episode)
    if (!run_episode(&suite, &options, episode) && !repeated) {
      print_repeat(argv[0], &suite, &options, episode);
      repeated = true;
    }
  types_close();
  const int status = suite_close(&suite);
  MPI_Finalize();
  return status;
}
