/// Communicators that we make in calls in which the application makes none.
///
/// Open MPI (5.0.11) makes one communicator at a time in each process, first that with the oldest parent, and whatever else is
/// made there waits, also while a rank of the first is late. If we made one in an exchange like that, its ranks would wait for
/// what another thread makes, or for an MPI_Comm_idup, and that perhaps for a rank that waits in the exchange: a circle which
/// the program has not without us. So there, ours is made only if nothing else is under way in any of its processes, and what
/// their other threads make meanwhile waits until it is there, which nothing can delay. What the application makes must come by
/// here, which it does not where the library is a component of Open MPI, or is loaded late.
#pragma once

#include "mpi/mpi.hpp"

namespace swapmeet {

/// As long as it lives, the application makes a communicator. Any thread; may wait for one of ours.
class ApplicationMakes {
 public:
  ApplicationMakes();
  ~ApplicationMakes();
  ApplicationMakes(const ApplicationMakes&) = delete;
  ApplicationMakes& operator=(const ApplicationMakes&) = delete;
};

/// The application begins to make a communicator, and goes on; we do not learn when it is there. While an ApplicationMakes lives.
void makes_in_background();

/// Why there is no communicator.
inline constexpr const char* made_meanwhile = "Open MPI makes another communicator in a process of these ranks";
inline constexpr const char* may_be_made =
    "a rank has called MPI_Comm_idup, which may be under way, and Open MPI makes one communicator at a time";
inline constexpr const char* none_left = "MPI has no communicator left for us";

struct MadeComm {
  MPI_Comm comm = MPI_COMM_NULL;
  const char* problem = nullptr;  ///< why there is none, the same on all ranks
};

/// same_ranks(), unless a rank might wait for what the application makes. `several_threads`: whether any rank may have them.
/// Collective, in a call that waits.
MadeComm make_same_ranks(MPI_Comm user, bool several_threads);

}  // namespace swapmeet
