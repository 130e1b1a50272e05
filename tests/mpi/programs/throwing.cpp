// Error handlers that never return: they throw a C++ exception, or jump. Whoever stands between the program and MPI
// must let them pass, and serve what comes after.
#include <mpi.h>

#include <csetjmp>
#include <cstdio>

namespace {

enum { COUNT = 2, MOST_RANKS = 16 };

bool throws;
std::jmp_buf back;

void leave(MPI_Comm*, int* code, ...) {
  if (throws) throw *code;
  std::longjmp(back, *code);
}

int call(int collective, int count, MPI_Comm comm, int* sent, int* received) {
  int ranks, counts[MOST_RANKS], places[MOST_RANKS], offsets[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
  MPI_Comm_size(comm, &ranks);
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = count, places[peer] = COUNT * peer, types[peer] = MPI_INT;
    offsets[peer] = COUNT * peer * static_cast<int>(sizeof(int));
  }
  if (collective == 0) return MPI_Alltoall(sent, count, MPI_INT, received, count, MPI_INT, comm);
  if (collective == 1) return MPI_Alltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, comm);
  return MPI_Alltoallw(sent, counts, offsets, types, received, counts, offsets, types, comm);
}

/// The class of the error that a wrong call leaves by.
int wrong_call(int collective, MPI_Comm comm, int* sent, int* received) {
  int error = MPI_SUCCESS;
  volatile int code = 0;
  if (throws) {
    try {
      call(collective, -1, comm, sent, received);
    } catch (int thrown) { code = thrown; }
  } else if (const int jumped = setjmp(back)) {
    code = jumped;
  } else {
    call(collective, -1, comm, sent, received);
  }
  MPI_Error_class(code, &error);
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  int rank, ranks, sent[COUNT * MOST_RANKS], received[COUNT * MOST_RANKS], wrong = 0;
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < COUNT * ranks; ++i) sent[i] = 1000 * rank + i;
  for (int way = 0; way < 2; ++way)
    for (int collective = 0; collective < 3; ++collective) {
      throws = way == 1;
      const int error = wrong_call(collective, comm, sent, received);
      for (int& value : received) value = -1;
      call(collective, COUNT, comm, sent, received);
      for (int i = 0; i < COUNT * ranks; ++i) wrong += received[i] != 1000 * (i / COUNT) + COUNT * rank + i % COUNT;
      if (rank == 0) std::printf("%s %d: class %d, %d wrong\n", throws ? "throw" : "jump", collective, error, wrong);
    }
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return wrong != 0;
}
