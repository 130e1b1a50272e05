/* To be preloaded behind libswapmeet.so: one call that the library makes fails once. fault_arm() says which: a function
 * of MPI by its name without "PMPI_", "malloc" or "pthread_create". Calls of others (the program, the MPI itself) do not
 * count. A function of MPI that fails has done nothing; by the name with a "+" it has done its work, whose result is
 * lost; with "*3" the two calls of it after the one that fails do so, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uintptr_t library_begin, library_end;
static char armed[64];
static size_t least_bytes;
static atomic_long left, fired;
static long in_a_row;

static int note_library(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(object->dlpi_name, "libswapmeet.so")) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *const header = &object->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    library_begin = object->dlpi_addr + header->p_vaddr;
    library_end = library_begin + header->p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void find_library(void) { dl_iterate_phdr(note_library, NULL); }

/* The `nth` call from now on fails; of malloc only those for so many bytes count. 0: none. Returns whether the library
 * is there. */
int fault_arm(const char *function, long nth, size_t bytes) {
  left = 0;
  fired = 0;
  snprintf(armed, sizeof armed, "%s", function);
  char *const star = strchr(armed, '*');
  in_a_row = star ? atol(star + 1) : 1;
  if (star) *star = '\0';
  least_bytes = bytes;
  left = nth > 0 ? nth + in_a_row - 1 : 0;
  return library_end != 0;
}

/* How many calls have failed since; the rest are safe. */
long fault_fired(void) {
  left = 0;
  return fired;
}

static int fails(const char *function, const void *caller) {
  const uintptr_t from = (uintptr_t)caller;
  if (left <= 0 || from < library_begin || from >= library_end || strcmp(function, armed) != 0) return 0;
  if (atomic_fetch_sub(&left, 1) > in_a_row) return 0;
  ++fired;
  return 1;
}

#ifndef SANITIZED /* else malloc is the sanitizer's */
extern void *__libc_malloc(size_t bytes);

void *malloc(size_t bytes) {
  if (left > 0 && bytes >= least_bytes && fails("malloc", __builtin_return_address(0))) return errno = ENOMEM, NULL;
  return __libc_malloc(bytes);
}
#endif

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  return fails("pthread_create", __builtin_return_address(0)) ? EAGAIN : real(thread, attributes, body, argument);
}

#define FAULT(name, parameters, arguments)                                     \
  int PMPI_##name parameters {                                                 \
    static int(*real) parameters;                                              \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "PMPI_" #name);              \
    if (fails(#name, __builtin_return_address(0))) return MPI_ERR_OTHER;       \
    if (!fails(#name "+", __builtin_return_address(0))) return real arguments; \
    real arguments;                                                            \
    return MPI_ERR_OTHER;                                                      \
  }

FAULT(Allgather, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g),
      (a, b, c, d, e, f, g))
FAULT(Allreduce, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f))
FAULT(Iallreduce, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f, MPI_Request *g),
      (a, b, c, d, e, f, g))
FAULT(Alltoall, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g),
      (a, b, c, d, e, f, g))
FAULT(Ialltoall, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g, MPI_Request *h),
      (a, b, c, d, e, f, g, h))
FAULT(Bcast, (void *a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e))
FAULT(Comm_create, (MPI_Comm a, MPI_Group b, MPI_Comm *c), (a, b, c))
FAULT(Comm_split, (MPI_Comm a, int b, int c, MPI_Comm *d), (a, b, c, d))
FAULT(Comm_split_type, (MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm *e), (a, b, c, d, e))
FAULT(Grequest_start,
      (MPI_Grequest_query_function * a, MPI_Grequest_free_function *b, MPI_Grequest_cancel_function *c, void *d,
       MPI_Request *e),
      (a, b, c, d, e))
FAULT(Improbe, (int a, int b, MPI_Comm c, int *d, MPI_Message *e, MPI_Status *f), (a, b, c, d, e, f))
FAULT(Imrecv, (void *a, int b, MPI_Datatype c, MPI_Message *d, MPI_Request *e), (a, b, c, d, e))
FAULT(Irecv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))
FAULT(Isend, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))
FAULT(Mprobe, (int a, int b, MPI_Comm c, MPI_Message *d, MPI_Status *e), (a, b, c, d, e))
FAULT(Pack, (const void *a, int b, MPI_Datatype c, void *d, int e, int *f, MPI_Comm g), (a, b, c, d, e, f, g))
FAULT(Recv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status *g), (a, b, c, d, e, f, g))
FAULT(Send, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f), (a, b, c, d, e, f))
FAULT(Sendrecv,
      (const void *a, int b, MPI_Datatype c, int d, int e, void *f, int g, MPI_Datatype h, int i, int j, MPI_Comm k,
       MPI_Status *l),
      (a, b, c, d, e, f, g, h, i, j, k, l))
FAULT(Test, (MPI_Request * a, int *b, MPI_Status *c), (a, b, c))
FAULT(Testall, (int a, MPI_Request *b, int *c, MPI_Status *d), (a, b, c, d))
FAULT(Testany, (int a, MPI_Request *b, int *c, int *d, MPI_Status *e), (a, b, c, d, e))
FAULT(Type_commit, (MPI_Datatype * a), (a))
FAULT(Type_contiguous, (int a, MPI_Datatype b, MPI_Datatype *c), (a, b, c))
FAULT(Type_create_hindexed, (int a, const int *b, const MPI_Aint *c, MPI_Datatype d, MPI_Datatype *e), (a, b, c, d, e))
FAULT(Type_create_struct, (int a, const int *b, const MPI_Aint *c, const MPI_Datatype *d, MPI_Datatype *e),
      (a, b, c, d, e))
FAULT(Type_get_extent, (MPI_Datatype a, MPI_Aint *b, MPI_Aint *c), (a, b, c))
FAULT(Type_size_x, (MPI_Datatype a, MPI_Count *b), (a, b))
FAULT(Type_dup, (MPI_Datatype a, MPI_Datatype *b), (a, b))
FAULT(Unpack, (const void *a, int b, int *c, void *d, int e, MPI_Datatype f, MPI_Comm g), (a, b, c, d, e, f, g))
FAULT(Wait, (MPI_Request * a, MPI_Status *b), (a, b))
FAULT(Waitall, (int a, MPI_Request *b, MPI_Status *c), (a, b, c))
FAULT(Waitany, (int a, MPI_Request *b, int *c, MPI_Status *d), (a, b, c, d))
#if MPI_VERSION >= 4
FAULT(Pack_c, (const void *a, MPI_Count b, MPI_Datatype c, void *d, MPI_Count e, MPI_Count *f, MPI_Comm g),
      (a, b, c, d, e, f, g))
FAULT(Unpack_c, (const void *a, MPI_Count b, MPI_Count *c, void *d, MPI_Count e, MPI_Datatype f, MPI_Comm g),
      (a, b, c, d, e, f, g))
#endif
