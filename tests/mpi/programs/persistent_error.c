/* persistent_error [return]: of a persistent MPI_Alltoallv, rank 1 sends to rank 0 more than that receives. With "return"
 * errors are returned; else they are fatal, as by default. A rank that goes on prints what MPI_Wait returned. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16 };

int main(int argc, char **argv) {
  int rank, ranks, out[4 * MOST] = {0}, in[4 * MOST], send_counts[MOST], receive_counts[MOST], places[MOST];
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1 && !strcmp(argv[1], "return")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < ranks; ++i) {
    send_counts[i] = rank == 1 ? 4 : 2;
    receive_counts[i] = rank != 0 && i == 1 ? 4 : 2;
    places[i] = 4 * i;
  }
  MPI_Alltoallv_init(out, send_counts, places, MPI_INT, in, receive_counts, places, MPI_INT, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &request);
  MPI_Start(&request);
  const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank %d goes on with %s\n", rank, error ? "an error" : "success");
  fflush(stdout);
  usleep(300000); /* an end of the program reaches all */
  MPI_Request_free(&request);
  MPI_Finalize();
  return 0;
}
