/// The table of the application's persistent requests that stand for an object of this library. MPI_Start,
/// MPI_Startall, MPI_Request_free, MPI_Wait and MPI_Waitall look requests up in it, as soon as there has been one.
///
/// Each is a persistent request of the host MPI. It is either an all-to-all of the host MPI, or, if this library
/// executes the exchange, a receive of zero bytes. This rank completes such a receive by a message to itself when the
/// exchange is complete.
#pragma once

#include "mpi/mpi.hpp"

namespace swapmeet {

/// The object behind a persistent request of the application.
class Persistent {
 public:
  virtual ~Persistent() = default;

  /// Starts the exchange. It is called after the host MPI has started the request. Returns an MPI error code.
  virtual int start() = 0;

  /// Waits until the started exchange is complete. It checks more often than the host MPI would. Other exchanges and
  /// messages of the process advance during the wait.
  virtual void finish() {}

  /// Reports that the application has freed the request. An exchange under way goes on. No other function of the object
  /// is called afterwards.
  virtual void close() = 0;
};

/// Makes `request` stand for `persistent`, which must live until close() is called. Thread-safe.
void watch(MPI_Request request, Persistent& persistent);

/// Removes `request` from the table, if it is there. Thread-safe.
void unwatch(MPI_Request request);

/// Removes all requests from the table. Thread-safe.
void unwatch_all();

}  // namespace swapmeet
