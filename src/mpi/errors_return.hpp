/// Handling of errors in MPI calls that the library makes on the application's communicators.
#pragma once

#include "mpi/mpi.hpp"

namespace swapmeet {

/// A scope in which MPI calls on `comm` return their errors instead of calling the application's error handler. The
/// failing calls are the library's own; the application's handler is called once, with the error of the whole call.
/// Local.
class ErrorsReturn {
 public:
  /// Leaves MPI_ERRORS_ARE_FATAL and MPI_ERRORS_RETURN in place if several threads may call MPI: another thread may read
  /// the handler in order to restore it later. With either of them no call of a handler is to be avoided.
  explicit ErrorsReturn(MPI_Comm comm);
  /// Sets the error handler `quiet` on `comm` until the end of the scope. If the program sets another one meanwhile,
  /// that stays.
  ErrorsReturn(MPI_Comm comm, MPI_Errhandler quiet);
  ~ErrorsReturn();
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

  /// An error handler that does nothing, so that the call returns its error. It is not MPI_ERRORS_RETURN: another
  /// thread of the program may set that meanwhile, and the scope must recognise its own handler.
  static MPI_Errhandler quiet_handler();

  /// The error of a call that this thread made on `comm` and that returned `error`. MPICH 5.0.2 returns MPI_SUCCESS
  /// from each call that has called an error handler; the error is then the one that the handler got.
  int error_of(int error) const;

 private:
  MPI_Comm comm_;
  MPI_Errhandler quiet_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace swapmeet
