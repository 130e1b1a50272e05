/* An MPI that nobody knows: what it returns says whether all arguments, in registers and on the stack, came through. */
#include <stdlib.h>
#include <string.h>

int PMPI_Comm_rank(long comm, int *rank) {
  (void)comm;
  *rank = 0;
  return 0;
}

int PMPI_Get_library_version(char *text, int *length) {
  const char *name = getenv("NAME_OF_MPI");
  strcpy(text, name ? name : "of a kind that nobody knows");
  *length = (int)strlen(text);
  return 0;
}

int MPI_Alltoallw(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
  return (int)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i);
}
