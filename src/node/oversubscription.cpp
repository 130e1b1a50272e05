#include "node/oversubscription.hpp"

#include <cstdlib>

namespace swapmeet {

/// Reads the environment variables of the launchers of MPICH and Intel MPI (Hydra) and of Open MPI.
std::int64_t launched_here() {
  static const std::int64_t number = [] {
    for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"})
      if (const char* const text = std::getenv(name)) return std::max(1L, std::strtol(text, nullptr, 10));
    return 1L;
  }();
  return number;
}

Oversubscription& Oversubscription::of_this_process() {
  static Oversubscription oversubscription(processors(), launched_here());
  return oversubscription;
}

}  // namespace swapmeet
