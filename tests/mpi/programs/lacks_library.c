/* One collective of some form on all ranks: `lacks_library FORM BYTES [LATE RANK]`; rank RANK sleeps for LATE seconds before it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *const form = argv[1];
  const int bytes = atoi(argv[2]);
  if (argc > 4 && rank == atoi(argv[4])) sleep((unsigned)atoi(argv[3]));
  char *const send = malloc((size_t)(ranks * bytes) + 1);
  char *const receive = malloc((size_t)(ranks * bytes) + 1);
  int *const counts = malloc(sizeof(int) * (size_t)ranks);
  int *const places = malloc(sizeof(int) * (size_t)ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = bytes, places[i] = i * bytes;
  for (int i = 0; i < ranks; ++i) memset(send + i * bytes, 16 * rank + i + 1, (size_t)bytes);
  memset(receive, 0, (size_t)(ranks * bytes));
  MPI_Request request = MPI_REQUEST_NULL;
  if (strcmp(form, "blocking") == 0) {
    MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD);
  } else if (strcmp(form, "varying") == 0) {
    MPI_Alltoallv(send, counts, places, MPI_BYTE, receive, counts, places, MPI_BYTE, MPI_COMM_WORLD);
  } else if (strcmp(form, "started") == 0) {
    MPI_Ialltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
  } else if (strcmp(form, "persistent") == 0) {
    MPI_Alltoall_init(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
#endif
  } else {
    return 2;
  }
  int wrong = 0;
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < bytes; ++k) wrong += receive[i * bytes + k] != (char)(16 * i + rank + 1);
  printf("rank %d: %s\n", rank, wrong ? "wrong" : "right");
  fflush(stdout);
  MPI_Finalize();
  free(places), free(counts), free(receive), free(send);
  return wrong != 0;
}
