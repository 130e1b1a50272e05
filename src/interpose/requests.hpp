/// The application's persistent requests with which something of ours starts or ends: MPI_Start, MPI_Startall,
/// MPI_Request_free, MPI_Wait and MPI_Waitall look for them, once there are any.
///
/// Each is a persistent request of the host MPI's: an all-to-all, or, where the exchange is ours, a receive of nothing by
/// which this rank tells itself that it is over.
#pragma once

#include "mpi/mpi.hpp"

namespace swapmeet {

class Persistent {
 public:
  virtual ~Persistent() = default;

  /// Starts the exchange, after the application's request. Returns an error of MPI.
  virtual int start() = 0;

  /// Waits until what was started is over, in less time than the host MPI takes for a look; what other exchanges and messages
  /// of the process can do meanwhile, they do.
  virtual void finish() {}

  /// The request has been freed; what is under way goes on. Nothing is called afterwards.
  virtual void close() = 0;
};

/// `request` stands for `persistent` from now on, which lives until it is closed.
void watch(MPI_Request request, Persistent& persistent);

/// `request` stands for nothing any more.
void unwatch(MPI_Request request);

/// No request stands for anything any more.
void unwatch_all();

}  // namespace swapmeet
