/* Functions of the library, if it is loaded. */
#define _GNU_SOURCE
#include "plans.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* ISO C has no conversion from void * to a function. */
static bool look_up(const char *name, void *function) {
  void *const found = dlsym(RTLD_DEFAULT, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

const Plans *plans(void) {
  static Plans known;
  static bool asked;
  if (asked) return &known;
  asked = true;
  const struct {
    const char *name;
    void *function;
  } functions[] = {
      {"swapmeet_plan_alltoall", &known.alltoall},
      {"swapmeet_plan_alltoallv", &known.alltoallv},
      {"swapmeet_plan_alltoallw", &known.alltoallw},
#if MPI_VERSION >= 4
      {"swapmeet_plan_alltoall_c", &known.alltoall_c},
      {"swapmeet_plan_alltoallv_c", &known.alltoallv_c},
      {"swapmeet_plan_alltoallw_c", &known.alltoallw_c},
#endif
      {"swapmeet_plan_start", &known.start},
      {"swapmeet_plan_test", &known.test},
      {"swapmeet_plan_wait", &known.wait},
      {"swapmeet_plan_free", &known.free},
  };
  known.found = true;
  for (size_t k = 0; k < sizeof functions / sizeof functions[0]; ++k)
    if (!look_up(functions[k].name, functions[k].function)) known.found = false;
  return &known;
}

bool set_algorithm(MPI_Comm comm, const char *spec, int *code) {
  int (*function)(MPI_Comm, const char *);
  if (!look_up("swapmeet_set_algorithm", &function)) return false;
  *code = function(comm, spec);
  return true;
}
