/* To be preloaded behind libswapmeet.so: forks while the library begins to record, with its locks held, and prints "child: ended" once the
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

/* Called by the library as it begins to record. */
int PMPI_Comm_get_parent(MPI_Comm *parent) {
  int (*next)(MPI_Comm *);
  void *const found = dlsym(RTLD_NEXT, "PMPI_Comm_get_parent");
  memcpy(&next, &found, sizeof next);
  have_child();
  return next(parent);
}
