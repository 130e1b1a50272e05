/* revoked FORM FILE: the last rank revokes a communicator on which all others are in an exchange: `blocking`,
 * `nonblocking` or `persistent`. Each of them adds a line to FILE: "left", if it leaves with an error that says so.
 * revoked freed FILE: all ranks free the communicator instead, while a persistent exchange is under way, make and
 * revoke another one, and start the exchange again: "whole", if no exchange fails. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 100, CALLS = 10 };

static char *send_buffer, *receive_buffer;
static MPI_Comm comm;

static int exchange(const char *form, MPI_Request *persistent) {
  MPI_Request request;
  if (strcmp(form, "blocking") == 0)
    return MPI_Alltoall(send_buffer, BYTES, MPI_BYTE, receive_buffer, BYTES, MPI_BYTE, comm);
  int error = strcmp(form, "persistent") == 0
                  ? MPI_Start(persistent)
                  : MPI_Ialltoall(send_buffer, BYTES, MPI_BYTE, receive_buffer, BYTES, MPI_BYTE, comm, &request);
  if (!error) error = MPI_Wait(strcmp(form, "persistent") == 0 ? persistent : &request, MPI_STATUS_IGNORE);
  return error;
}

static void tell(const char *file_name, const char *line) {
  FILE *file = fopen(file_name, "a");
  fprintf(file, "%s\n", line);
  fclose(file);
}

static void exchange_after_free(MPI_Request *persistent, const char *file_name) {
  int error = MPI_Start(persistent);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* which may get the freed one's handle */
  MPI_Barrier(MPI_COMM_WORLD);         /* the other ranks have it, too */
  MPIX_Comm_revoke(comm);
  for (int i = 0; i < CALLS && !error; ++i) {
    error = MPI_Wait(persistent, MPI_STATUS_IGNORE);
    if (!error) error = MPI_Start(persistent);
  }
  if (!error) error = MPI_Wait(persistent, MPI_STATUS_IGNORE);
  tell(file_name, error ? "failed" : "whole");
}

int main(int argc, char **argv) {
  int rank, ranks, class = MPI_SUCCESS;
  MPI_Request persistent = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  send_buffer = calloc((size_t)ranks, BYTES);
  receive_buffer = calloc((size_t)ranks, BYTES);
  const int freed = strcmp(argv[1], "freed") == 0;
  if (freed || strcmp(argv[1], "persistent") == 0)
    MPI_Alltoall_init(send_buffer, BYTES, MPI_BYTE, receive_buffer, BYTES, MPI_BYTE, comm, MPI_INFO_NULL, &persistent);
  for (int i = 0; i < CALLS; ++i) exchange(freed ? "persistent" : argv[1], &persistent);
  MPI_Barrier(MPI_COMM_WORLD);
  if (freed) {
    exchange_after_free(&persistent, argv[2]);
  } else if (rank == ranks - 1) {
    usleep(200000);
    MPIX_Comm_revoke(comm);
  } else {
    MPI_Error_class(exchange(argv[1], &persistent), &class);
    /* MPI_Wait takes the error of a request of ours for one of a message: docs/howto/faults.md */
    const int left = class == MPIX_ERR_REVOKED || class == MPIX_ERR_PROC_FAILED ||
                     (class == MPI_ERR_TRUNCATE && strcmp(argv[1], "persistent") == 0);
    char other[32];
    snprintf(other, sizeof other, "class %d", class);
    tell(argv[2], left ? "left" : other);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  _exit(0);
}
