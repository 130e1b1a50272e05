/* Random programs, from a seed: runs episodes of them and checks every byte; or as many as it takes to make so many
 * all-to-alls, some of them by several threads, and checks that what the process holds does not grow (a soak). */
#include "fuzz.h"

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint.h"
#include "oracle.h"

typedef struct {
  unsigned long long seed, episodes, episode, steps, soak, threads, plain, idups, mistakes;
} FuzzOptions;

static const struct {
  const char *name;
  size_t at;
  unsigned long long standard;
  const char *meaning;
} options_table[] = {
    {"--seed", offsetof(FuzzOptions, seed), 1, "of all that is drawn"},
    {"--episodes", offsetof(FuzzOptions, episodes), 10, "that are run"},
    {"--episode", offsetof(FuzzOptions, episode), ULLONG_MAX, "this one alone"},
    {"--steps", offsetof(FuzzOptions, steps), 50, "of an episode"},
    {"--soak", offsetof(FuzzOptions, soak), 0, "episodes until rank 0 has made so many all-to-alls"},
    {"--threads", offsetof(FuzzOptions, threads), 0, "of each rank, each of which runs the steps"},
    {"--plain", offsetof(FuzzOptions, plain), 0, "1: nothing stays under way between steps"},
    {"--idups", offsetof(FuzzOptions, idups), 0, "1: MPI_Comm_idup stays pending between steps"},
    {"--mistakes", offsetof(FuzzOptions, mistakes), 0, "1: now and then one rank gives another count"},
};
enum { OPTIONS = sizeof options_table / sizeof options_table[0] };

static unsigned long long *option(FuzzOptions *options, int k) {
  return (unsigned long long *)((char *)options + options_table[k].at);
}

void step_is(Program *program, const char *format, ...) {
  char *name = program->suite->name;
  const size_t length = strlen(name);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(name + length, sizeof program->suite->name - length, format, arguments);
  va_end(arguments);
}

/* How often, of all steps of each kind of episode. */
static const struct {
  int weights[4];
  void (*step)(Program *program);
} steps[] = {
    {{[MIXED] = 8, [PLAIN] = 14, [THREADED] = 4, [MISTAKEN] = 2}, exchange_one},
    {{[MIXED] = 4, [PLAIN] = 5, [THREADED] = 2}, exchange_several},
    {{[MIXED] = 4, [PLAIN] = 4}, change_algorithm},
    {{[MIXED] = 4, [PLAIN] = 3, [THREADED] = 3, [MISTAKEN] = 2}, make_communicator},
    {{[MIXED] = 3, [PLAIN] = 2, [THREADED] = 2, [MISTAKEN] = 1}, drop_communicator},
    {{[MIXED] = 2, [PLAIN] = 2, [THREADED] = 1}, post_message},
    {{[MIXED] = 2, [PLAIN] = 2, [THREADED] = 1}, use_collective},
    {{[MIXED] = 6, [THREADED] = 2}, start_exchange},
    {{[MIXED] = 4, [THREADED] = 1}, finish_exchanges},
    {{[MIXED] = 3, [THREADED] = 1}, exchange_again},
    {{[MIXED] = 1, [THREADED] = 6}, start_many},
    {{[THREADED] = 2}, make_anew},
    {{[MIXED] = 4, [THREADED] = 1}, duplicate_beside},
    {{[MISTAKEN] = 8}, make_mistake},
};

static void step(Program *program) {
  const Kind kind = program->episode->kind;
  int total = 0, k = 0;
  for (size_t one = 0; one < sizeof steps / sizeof steps[0]; ++one) total += steps[one].weights[kind];
  for (int drawn = draw_below(&program->random, total); drawn >= steps[k].weights[kind]; ++k)
    drawn -= steps[k].weights[kind];
  suite_come_late(program->suite, SELDOM);
  free_some_request(program);
  steps[k].step(program);
}

long run_program(Suite *suite, const Episode *episode, int thread, MPI_Comm comm) {
  const uint64_t number = (uint64_t)episode->number, seed = oracle_mix(episode->seed) + oracle_mix(number);
  Program program = {.suite = suite, .episode = episode};
  program.random.seed = thread < 0 ? seed : oracle_key(seed, thread, 0);
  program.slots[0] = (Slot){.used = true, .comm = comm};
  for (int k = 0; k < REQUESTS; ++k) program.unfreed[k].request = MPI_REQUEST_NULL;
  suite->late = episode->kind == PLAIN ? 0 : oracle_key(program.random.seed, suite->rank, 1) | 1;
  for (int k = 0; k < episode->steps; ++k) {
    suite_begin(suite, "seed=%llu/episode=%d/step=%d/", (unsigned long long)episode->seed, episode->number, k);
    if (thread >= 0) step_is(&program, "thread=%d/", thread);
    step(&program);
    if (k + 1 == episode->steps) end_program(&program);
    suite_end(suite);
  }
  suite->late = 0;
  if (thread >= 0) MPI_Comm_free(&program.slots[0].comm);
  return program.all_to_alls;
}

static Episode episode_of(const FuzzOptions *options, int number) {
  return (Episode){.seed = options->seed,
                   .number = number,
                   .steps = (int)options->steps,
                   .kind = options->threads > 0 ? THREADED
                           : options->plain     ? PLAIN
                           : options->mistakes  ? MISTAKEN
                                                : MIXED,
                   .threads = (int)options->threads,
                   .idups = options->idups,
                   .soaks = options->soak > 0};
}

/* @return whether all went well, as far as rank 0 knows. */
static bool run_episode(Suite *suite, const Episode *episode, long *all_to_alls) {
  const int failed = suite->failed;
  *all_to_alls += episode->threads > 0 ? run_threads(suite, episode) : run_program(suite, episode, -1, MPI_COMM_WORLD);
  return suite->failed == failed;
}

static void print_repeat(const char *program, const Suite *suite, const FuzzOptions *options, int episode) {
  static const char *const variables[] = {"LD_PRELOAD", "SWAPMEET_ALGORITHM", "SWAPMEET_NODES", "SWAPMEET_NONBLOCKING"};
  FuzzOptions repeated = *options;
  if (suite->rank > 0) return;
  printf("repeat that episode: mpiexec -n %d env", suite->ranks);
  for (size_t k = 0; k < sizeof variables / sizeof variables[0]; ++k) {
    const char *value = getenv(variables[k]);
    if (value) printf(" '%s=%s'", variables[k], value);
  }
  printf(" %s", program);
  repeated.episode = (unsigned long long)episode;
  for (int k = 0; k < OPTIONS; ++k)
    if (*option(&repeated, k) != options_table[k].standard)
      printf(" %s %llu", options_table[k].name, *option(&repeated, k));
  puts("");
  fflush(stdout);
}

static void run_episodes(Suite *suite, const FuzzOptions *options, const char *program) {
  const bool one = options->episode != ULLONG_MAX;
  const int first = one ? (int)options->episode : 0, last = one ? first + 1 : (int)options->episodes;
  bool repeated = false;
  long all_to_alls = 0;
  for (int number = first; number < last; ++number) {
    const Episode episode = episode_of(options, number);
    if (run_episode(suite, &episode, &all_to_alls) || repeated) continue;
    print_repeat(program, suite, options, number);
    repeated = true;
  }
}

/* The first third of the calls fills caches; what the second third leaves is compared with what the last one leaves. */
static void soak(Suite *suite, const FuzzOptions *options) {
  enum { THREADS = 3, STEPS = 4 };
  const long wanted = (long)options->soak;
  long all_to_alls = 0, done = 0, third = 0; /* one episode may make thousands, and each third takes one at least */
  Footprint least[2] = {footprint_most, footprint_most};
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  for (int number = 0; third < 3; ++number) {
    Episode episode = episode_of(options, number);
    run_episode(suite, &episode, &all_to_alls);
    episode.kind = THREADED, episode.threads = THREADS, episode.steps = STEPS;
    if (level == MPI_THREAD_MULTIPLE) run_episode(suite, &episode, &all_to_alls);
    done = all_to_alls;
    MPI_Bcast(&done, 1, MPI_LONG, 0, suite->comm);
    const Footprint now = footprint();
    if (third > 0) footprint_least(&least[third - 1], &now);
    if (3 * done > (third + 1) * wanted) ++third;
  }
  suite_begin(suite, "soak/seed=%llu/%ld all-to-alls", options->seed, done);
  footprint_compare(suite, &least[0], &least[1], done / 3);
  if (suite->rank == 0) {
    printf("%ld all-to-alls of rank 0\n", done);
    footprint_print("after a third", &least[0]);
    footprint_print("at the end", &least[1]);
  }
  suite_end(suite);
}

static bool parse(int argc, char **argv, FuzzOptions *options) {
  for (int k = 0; k < OPTIONS; ++k) *option(options, k) = options_table[k].standard;
  for (int k = 1; k < argc; k += 2) {
    char *end = "";
    int which = 0;
    while (which < OPTIONS && strcmp(argv[k], options_table[which].name) != 0) ++which;
    if (k + 1 == argc || which == OPTIONS) return false;
    *option(options, which) = strtoull(argv[k + 1], &end, 10);
    if (*end != '\0') return false;
  }
  return true;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  FuzzOptions options;
  Suite suite;
  const bool sensible = parse(argc, argv, &options);
  const Options of_suite = {.seed = options.seed};
  suite_open(&suite, &of_suite);
  if (!sensible || (options.threads > 0 && provided < MPI_THREAD_MULTIPLE)) {
    for (int k = 0; k < OPTIONS && suite.rank == 0; ++k)
      fprintf(stderr, "%s NUMBER: %s\n", options_table[k].name, options_table[k].meaning);
    if (suite.rank == 0 && sensible) fputs("--threads needs MPI_THREAD_MULTIPLE\n", stderr);
    MPI_Finalize();
    return 2;
  }
  if (options.soak > 0 && options.episode == ULLONG_MAX) soak(&suite, &options);
  else run_episodes(&suite, &options, argv[0]);
  types_close();
  const int status = suite_close(&suite);
  MPI_Finalize();
  return status;
}
