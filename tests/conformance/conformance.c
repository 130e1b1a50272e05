/* MPI conformance suite for MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: the command line and the order of the
 * groups. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "communicators.h"
#include "types.h"

static int usage(const char *program, int rank) {
  static const char *words = "[--list] [--only SUBSTRING] [--except SUBSTRING] [--seed S] [--random N] [--huge]";
  if (rank == 0) fprintf(stderr, "usage: %s %s\n", program, words);
  MPI_Finalize();
  return 2;
}

/* @return false if the arguments make no sense. */
static bool parse(int argc, char **argv, Options *options) {
  for (int k = 1; k < argc; ++k) {
    const char *value = k + 1 < argc ? argv[k + 1] : NULL;
    char *end = "";
    if (strcmp(argv[k], "--list") == 0) {
      options->list = true;
      continue;
    }
    if (strcmp(argv[k], "--huge") == 0) {
      options->huge = true;
      continue;
    }
    if (!value) return false;
    if (strcmp(argv[k], "--only") == 0) options->only = value;
    else if (strcmp(argv[k], "--except") == 0) options->except = value;
    else if (strcmp(argv[k], "--seed") == 0) options->seed = strtoull(value, &end, 10);
    else if (strcmp(argv[k], "--random") == 0) options->random_cases = (int)strtol(value, &end, 10);
    else return false;
    if (*end != '\0') return false;
    ++k;
  }
  return true;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Options options = {.seed = 1, .random_cases = 60};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!parse(argc, argv, &options)) return usage(argv[0], rank);

  Suite suite;
  suite_open(&suite, &options);
  communicators_open();
  cases_blocks(&suite);
  cases_vector(&suite);
  cases_typed(&suite);
  cases_workload(&suite);
  cases_communicators(&suite);
  cases_traffic(&suite);
  cases_forms(&suite);
  cases_reuse(&suite);
  cases_random(&suite);
  cases_far(&suite);
  if (options.huge) cases_huge(&suite);
  communicators_close();
  types_close();
  const int status = suite_close(&suite);
  MPI_Finalize();
  return status;
}
