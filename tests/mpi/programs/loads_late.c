/* names OBJECT: has late_caller.c print what it sees.  calls OBJECT: has it call MPI on many threads at once, and again once it,
 * and the MPI with it, were closed and opened.  Both objects are loaded for this program alone (RTLD_LOCAL). */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 16 };

static void *object;
static pthread_barrier_t together;

static void *needed(const char *name) {
  void *found = dlsym(object, name);
  if (!found) exit(puts(dlerror()) < 0 ? 3 : 2);
  return found;
}

static void open_object(const char *path) {
  object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!object) exit(puts(dlerror()) < 0 ? 3 : 2);
}

static void *call(void *first) {
  int (*function)(long);
  void *found = needed("call");
  memcpy(&function, &found, sizeof function);
  pthread_barrier_wait(&together);
  errno = 77;
  const int expected = (int)(long)first + 2 * 1 + 3 * 2 + 4 * 3 + 5 * 4 + 6 * 5 + 7 * 6 + 8 * 7 + 9 * 8;
  const int right = function((long)first) == expected && errno == 77;
  return right ? NULL : first;
}

static int wrong_calls(void) {
  pthread_t threads[THREADS];
  int wrong = 0;
  for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, call, (void *)(i + 1));
  for (int i = 0; i < THREADS; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    wrong += result != NULL;
  }
  return wrong;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  open_object(argv[2]);
  if (!strcmp(argv[1], "names")) {
    void (*print)(void);
    void *found = needed("print_names");
    memcpy(&print, &found, sizeof print);
    print();
    return 0;
  }
  pthread_barrier_init(&together, NULL, THREADS);
  int wrong = wrong_calls();
  dlclose(object);
  for (int i = 0; i < 256; ++i) mmap(NULL, 4096 * (1 + i % 8), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  open_object(argv[2]); /* elsewhere than before, if it was unmapped */
  wrong += wrong_calls();
  printf("wrong: %d\n", wrong);
  return wrong != 0;
}
