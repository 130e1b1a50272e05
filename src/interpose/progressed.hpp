/// Persistent all-to-alls that move on in the host MPI's progress, each a plan with a communicator of its own: they may be
/// started in any order.
#pragma once

#include <memory>

#include "mpi/mpi.hpp"
#include "session/planned.hpp"

namespace swapmeet {

/// Ends the plans of requests that have been freed, as far as they are over; others may use what they had. Local.
void end_freed_plans();

class Progressed;

/// A persistent request, made before its plan: the request may fail on this rank alone, which the other ranks are to know
/// when they agree on the plan. Freed with this object unless it starts a plan.
class PersistentRequest {
 public:
  /// On the application's communicator `user`: an error of an exchange ends the program where its errors are fatal, else what
  /// completes the request returns it. Local.
  explicit PersistentRequest(MPI_Comm user);
  ~PersistentRequest();
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;

  /// False: the host MPI made none.
  explicit operator bool() const { return progressed_ != nullptr; }

  /// The request, which starts `planned` from now on.
  MPI_Request start_of(std::unique_ptr<Planned> planned);

 private:
  Progressed* progressed_ = nullptr;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace swapmeet
