/* unreceived MODE: ranks wait in an all-to-all while a message that nobody has asked for lies there, and another one that
 * its sender waits for must arrive, or a request of another kind must end. MODE:
 *   blocking    in MPI_Alltoall
 *   persistent  in MPI_Wait of an all-to-all
 *   file FILE   in MPI_Waitall of an all-to-all and of collective output
 * Prints "unreceived: right". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 20, MOST = 64, RUNS = 64, RUN = 1000 };

static int rank, ranks, out[MOST], in[MOST], wrong;

static void fill(int round) {
  for (int i = 0; i < ranks; ++i) out[i] = 1000 * round + 10 * rank + i, in[i] = -1;
}
static void check(int round) {
  for (int i = 0; i < ranks; ++i) wrong += in[i] != 1000 * round + 10 * i + rank;
}

static void messages(int persistent) {
  MPI_Request plan, later;
  int first = -1, second = -1;
  if (persistent) MPI_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &plan);
  for (int round = 0; round < ROUNDS; ++round) {
    fill(round);
    if (rank == 1) MPI_Irecv(&second, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &later);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Send(&round, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
      usleep(2000); /* the others wait by now */
      MPI_Ssend(&round, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    }
    if (persistent) MPI_Start(&plan), MPI_Wait(&plan, MPI_STATUS_IGNORE);
    else MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    check(round);
    if (rank == 1) {
      MPI_Recv(&first, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&later, MPI_STATUS_IGNORE);
      wrong += first != round || second != round;
    }
  }
  if (persistent) MPI_Request_free(&plan);
}

static void output(const char *name) {
  static char text[RUNS * RUN];
  MPI_Request both[2];
  MPI_Datatype every;
  MPI_File file;
  MPI_Type_vector(RUNS, RUN, ranks * RUN, MPI_CHAR, &every);
  MPI_Type_commit(&every);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, (MPI_Offset)rank * RUN, MPI_CHAR, every, "native", MPI_INFO_NULL);
  MPI_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  for (int round = 0; round < ROUNDS; ++round) {
    fill(round);
    MPI_File_iwrite_at_all(file, 0, text, RUNS * RUN, MPI_CHAR, &both[0]);
    if (rank == 0) {
      MPI_Start(&both[1]);
      MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    } else {
      MPI_Wait(&both[0], MPI_STATUS_IGNORE);
      MPI_Start(&both[1]);
      MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    }
    check(round);
  }
  MPI_Request_free(&both[1]);
  MPI_File_close(&file);
  MPI_Type_free(&every);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *const mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "blocking") == 0) messages(0);
  if (strcmp(mode, "persistent") == 0) messages(1);
  if (strcmp(mode, "file") == 0 && argc > 2) output(argv[2]);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && wrong == 0) puts("unreceived: right");
  MPI_Finalize();
  return wrong != 0;
}
