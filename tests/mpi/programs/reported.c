// reported overflow|signed|leak|race: a mistake that a sanitizer must report.
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int shared;
static volatile int most = INT_MAX;
static void *volatile lost;

static void *change(void *unused) {
  for (int i = 0; i < 1000; ++i) ++shared;
  return unused;
}

int main(int argc, char **argv) {
  const char *const what = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  if (strcmp(what, "overflow") == 0) {
    lost = malloc(8); /* volatile, so that no compiler knows its size, or leaves the store out */
    ((volatile char *)lost)[8] = 1;
    free(lost);
  }
  if (strcmp(what, "signed") == 0) most = most + 1;
  if (strcmp(what, "leak") == 0) {
    lost = malloc(100);
    lost = NULL;
  }
  if (strcmp(what, "race") == 0) {
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, change, NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  }
  MPI_Finalize();
  return 0;
}
