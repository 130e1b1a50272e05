/* What is loaded after the program has begun, as a module of Python is: which functions of MPI it sees, and calls. */
#include <stdio.h>

#define EACH(DO)   \
  DO(MPI_Init)     \
  DO(MPI_Alltoall) \
  DO(PMPI_Alltoall) DO(MPI_Alltoall_c) DO(MPI_Alltoall_init) DO(MPI_Barrier) DO(MPI_Startall) DO(MPIX_Comm_revoke)

#define DECLARE(name) extern int name(void) __attribute__((weak));
EACH(DECLARE)
extern int MPI_Alltoallw(long, long, long, long, long, long, long, long, long) __attribute__((weak));

#define PRINT(name) \
  if (name) puts(#name);

void print_names(void) { EACH(PRINT) }

/* Of nobodys_mpi.c. */
int call(long first) { return MPI_Alltoallw(first, 1, 2, 3, 4, 5, 6, 7, 8); }
