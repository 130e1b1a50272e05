/// Errors of calls that we make on the application's communicators.
#pragma once

#include "mpi/mpi.hpp"

namespace swapmeet {

/// As long as it lives, errors of `comm` return: what fails is ours, and the application's error handler is called once, with
/// the call's error. Not in a coroutine, which agrees by messages. Local.
class ErrorsReturn {
 public:
  explicit ErrorsReturn(MPI_Comm comm) : ErrorsReturn(comm, quiet_handler()) {}
  /// `quiet`: the error handler that `comm` has meanwhile. If the program sets another one, that stays.
  ErrorsReturn(MPI_Comm comm, MPI_Errhandler quiet);
  ~ErrorsReturn();
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

  /// Leaves errors to what the call returns. Not MPI_ERRORS_RETURN, which another thread of the program may set meanwhile.
  static MPI_Errhandler quiet_handler();

  /// The error of a call on `comm` by this thread that returned `error`. MPICH 5.0.2 returns MPI_SUCCESS from each call that
  /// has called an error handler.
  int error_of(int error) const;

 private:
  MPI_Comm comm_;
  MPI_Errhandler quiet_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace swapmeet
