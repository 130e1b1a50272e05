/* To be preloaded behind libswapmeet.so, a wrapper that is wrong: LOSES=message: the third message of rank 0 to rank 1
 * after MPI_Init is lost; LOSES=thread: the library can make no thread. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int loses(const char *what, const void *caller) {
  const char *const wanted = getenv("LOSES");
  Dl_info home;
  return wanted && !strcmp(wanted, what) && dladdr(caller, &home) && strstr(home.dli_fname, "libswapmeet.so");
}

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  static int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Isend");
  static int sent;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && to == 1 && loses("message", __builtin_return_address(0)) && ++sent == 4) to = MPI_PROC_NULL;
  return real(data, count, type, to, tag, comm, request);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  return loses("thread", __builtin_return_address(0)) ? EAGAIN : real(thread, attributes, body, argument);
}
