#include "mpi/errors_return.hpp"

#include <utility>

#include "mpi/progress.hpp"

namespace swapmeet {

namespace {

MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  return PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS ? handler : MPI_ERRHANDLER_NULL;
}

/// Whether the error handler of `comm` need not be replaced, and another thread might read it meanwhile.
bool stays(MPI_Comm comm) {
  if (!has_several_threads()) return false;
  MPI_Errhandler present = handler_of(comm);
  const bool predefined = present == MPI_ERRORS_ARE_FATAL || present == MPI_ERRORS_RETURN;
  if (present != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&present);
  return predefined;
}

/// The last error with which MPI called the quiet handler on this thread.
thread_local int raised = MPI_SUCCESS;

void leave_error(MPI_Comm*, int* error, ...) { raised = *error; }

}  // namespace

MPI_Errhandler ErrorsReturn::quiet_handler() {
  static const MPI_Errhandler only = [] {
    MPI_Errhandler made = MPI_ERRORS_RETURN;
    PMPI_Comm_create_errhandler(leave_error, &made);
    return made;
  }();
  return only;
}

ErrorsReturn::ErrorsReturn(MPI_Comm comm) : ErrorsReturn(comm, stays(comm) ? MPI_ERRHANDLER_NULL : quiet_handler()) {}

ErrorsReturn::ErrorsReturn(MPI_Comm comm, MPI_Errhandler quiet) : comm_(comm), quiet_(quiet) {
  if (quiet == MPI_ERRHANDLER_NULL) return;
  raised = MPI_SUCCESS;
  handler_ = handler_of(comm);
  if (handler_ != MPI_ERRHANDLER_NULL) PMPI_Comm_set_errhandler(comm, quiet);
}

int ErrorsReturn::error_of(int error) const {
  if (handler_ == MPI_ERRHANDLER_NULL) return error;
  const int before = std::exchange(raised, MPI_SUCCESS);
  return error ? error : before;
}

ErrorsReturn::~ErrorsReturn() {
  if (handler_ == MPI_ERRHANDLER_NULL) return;
  MPI_Errhandler present = handler_of(comm_);
  if (present == quiet_) PMPI_Comm_set_errhandler(comm_, handler_);
  if (present != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&present);
  PMPI_Errhandler_free(&handler_);
}

}  // namespace swapmeet
