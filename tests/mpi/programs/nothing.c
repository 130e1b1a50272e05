/* nothing: MPI_Ialltoall of no bytes, by no elements on some ranks and by elements of an empty type on others, and
 * MPI_Alltoall of no elements, whose types differ, between exchanges of data: first of all, between others, under way
 * beside others. It prints "nothing: right".
 *
 *   nothing ELEMENTS [threads]  ELEMENTS: of the empty type; threads: with MPI_THREAD_MULTIPLE, after an MPI_Alltoall */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 200 };

int main(int argc, char **argv) {
  int me, ranks, wrong = 0, all = 0;
  const int threads = argc > 2;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &all);
  all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int empties = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Datatype empty, apart;
  MPI_Type_contiguous(0, MPI_INT, &empty), MPI_Type_commit(&empty);
  MPI_Type_vector(2, 1, 3, MPI_INT, &apart), MPI_Type_commit(&apart);
  int *const sent = malloc((size_t)ranks * sizeof *sent), *const received = malloc((size_t)ranks * sizeof *received);
  for (int i = 0; i < ranks; ++i) sent[i] = 0;
  if (threads) MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Request requests[3];
    const int turn = round + me, elements = turn % 2 ? empties : 0;
    const MPI_Datatype type = elements ? empty : MPI_INT;
    for (int i = 0; i < ranks; ++i) sent[i] = 1000 * round + 10 * me + i, received[i] = -1;
    MPI_Ialltoall(sent, elements, type, received, elements, type, MPI_COMM_WORLD, &requests[0]);
    MPI_Ialltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, received, elements, type, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ranks; ++i) wrong += received[i] != 1000 * round + 10 * i + me;
    const MPI_Datatype none = turn % 2 ? apart : MPI_INT; /* of which there are no elements */
    MPI_Alltoall(sent, 0, none, received, 0, none, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, received, 0, none, MPI_COMM_WORLD);
    if (round % 7 == 0) MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Ialltoall(sent, elements, type, received, elements, type, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; ++i) wrong += received[i] != 1000 * round + 10 * i + me;
  }
  free(sent), free(received), MPI_Type_free(&empty), MPI_Type_free(&apart);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf(all ? "nothing: %d blocks are wrong\n" : "nothing: right\n", all);
  MPI_Finalize();
  return 0;
}
