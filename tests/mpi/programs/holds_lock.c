/* To be preloaded behind libswapmeet.so: forks while the library begins, with its locks held, and prints "child: ended" once the
 * child has left by exit(), or "child: waits" if it does not within ten seconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void have_child(void) {
  const pid_t child = fork();
  if (child == 0) exit(0);
  for (int tenths = 0; tenths < 100; ++tenths, usleep(100000))
    if (waitpid(child, NULL, WNOHANG) == child) {
      puts("child: ended");
      return;
    }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  puts("child: waits");
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *end, int *keyval,
                            void *state) {
  static int (*next)(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *);
  if (!next) {
    void *const found = dlsym(RTLD_NEXT, "PMPI_Comm_create_keyval");
    memcpy(&next, &found, sizeof found);
    have_child();
  }
  return next(copy, end, keyval, state);
}
