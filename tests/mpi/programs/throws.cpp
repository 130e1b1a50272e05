// throws NAME: exceptions leave a function of MPI that the library replaces, thrown by the application's error handler, which is
// called for a mistake in the arguments, or by its attribute callbacks ("copy", "delete"). Prints "throws: NAME" for each of two.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const char* wanted;

void handle(MPI_Comm*, int* code, ...) { throw *code; }
int copy(MPI_Comm, int, void*, void*, void*, int*) { throw 1; }
int forget(MPI_Comm, int, void*, void*) { throw 2; }

template <class Call>
void attempt(const char* name, Call call) {
  if (std::strcmp(name, wanted) != 0) return;
  try {
    call();
  } catch (int) { std::printf("throws: %s\n", name), std::fflush(stdout); }
}

void attempt_all() {
  const MPI_Comm all = MPI_COMM_WORLD;
  MPI_Comm comm = MPI_COMM_NULL, with = MPI_COMM_NULL;
  int x[64] = {}, zeros[16] = {}, key = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  // from now on MPI_Start and its siblings look at what they get
  MPI_Alltoall_init(x, 1, MPI_INT, x + 32, 1, MPI_INT, all, MPI_INFO_NULL, &requests[0]);
  attempt("Comm_dup", [&] { MPI_Comm_dup(MPI_COMM_NULL, &comm); });
  attempt("Comm_split", [&] { MPI_Comm_split(all, -7, 0, &comm); });
  attempt("Comm_idup", [&] { MPI_Comm_idup(MPI_COMM_NULL, &comm, &requests[1]); });
  attempt("Comm_free", [&] { MPI_Comm_free(&comm); });
  attempt("Comm_disconnect", [&] { MPI_Comm_disconnect(&comm); });
  attempt("Barrier", [&] { MPI_Barrier(MPI_COMM_NULL); });
  attempt("Allreduce", [&] { MPI_Allreduce(x, x + 1, -1, MPI_INT, MPI_SUM, all); });
  attempt("Allgather", [&] { MPI_Allgather(x, -1, MPI_INT, x + 32, 1, MPI_INT, all); });
  attempt("Alltoall", [&] { MPI_Alltoall(x, -1, MPI_INT, x + 32, 1, MPI_INT, all); });
  attempt("Alltoallv", [&] { MPI_Alltoallv(x, zeros, nullptr, MPI_DATATYPE_NULL, x, zeros, zeros, MPI_INT, all); });
  attempt("Ialltoall", [&] { MPI_Ialltoall(x, -1, MPI_INT, x + 32, 1, MPI_INT, all, &requests[1]); });
  attempt("Alltoall_init",
          [&] { MPI_Alltoall_init(x, -1, MPI_INT, x + 32, 1, MPI_INT, all, MPI_INFO_NULL, &requests[1]); });
  attempt("Start", [&] { MPI_Start(&requests[1]); });
  attempt("Startall", [&] { MPI_Startall(-1, requests); });
  attempt("Request_free", [&] { MPI_Request_free(&requests[1]); });
  attempt("Wait", [&] { MPI_Wait(nullptr, MPI_STATUS_IGNORE); });
  attempt("Waitall", [&] { MPI_Waitall(-1, requests, MPI_STATUSES_IGNORE); });
  MPI_Comm_create_keyval(copy, forget, &key, nullptr);
  MPI_Comm_split(all, 0, 0, &with);
  MPI_Comm_set_attr(with, key, nullptr);
  attempt("copy", [&] { MPI_Comm_dup(with, &comm); });
  attempt("delete", [&] { MPI_Comm_free(&with); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  wanted = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  attempt_all();
  attempt_all();  // what an exception has left must not be in the way
  std::_Exit(0);  // MPI may hold what it was thrown out of
}
