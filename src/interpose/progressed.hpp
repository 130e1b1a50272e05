/// Persistent all-to-alls that advance in the host MPI's progress. Each is a plan with a team of its own, so the
/// application may start them in any order.
#pragma once

#include <memory>

#include "mpi/mpi.hpp"
#include "session/planned.hpp"

namespace swapmeet {

/// Destroys the plans whose requests the application has freed and whose exchanges have completed. Other plans may then
/// use their resources. Local.
void end_freed_plans();

class Progressed;

/// A persistent request that is made before its plan. Making the request may fail on this rank alone, and the other
/// ranks must know of that when they agree on the plan. The request is freed with this object unless start_of() was
/// called.
class PersistentRequest {
 public:
  /// Makes the request for an exchange on the application's communicator `user`. If errors are fatal on `user`, an
  /// error of the exchange ends the program; otherwise the call that completes the request returns it. Local.
  explicit PersistentRequest(MPI_Comm user);
  ~PersistentRequest();
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;

  /// False if no request could be made.
  explicit operator bool() const { return progressed_ != nullptr; }

  /// Returns the request, which starts `planned` from now on. The application owns the request.
  MPI_Request start_of(std::unique_ptr<Planned> planned);

 private:
  Progressed* progressed_ = nullptr;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace swapmeet
