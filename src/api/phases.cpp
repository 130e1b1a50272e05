/// swapmeet_phases_begin(), swapmeet_phases_end(), swapmeet_phase_name() and swapmeet_trace().
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "execute/context.hpp"

namespace {

swapmeet::Communicator* known(MPI_Comm comm) {
  return comm == MPI_COMM_NULL ? nullptr : swapmeet::communicator_of(comm);
}

}  // namespace

SWAPMEET_EXPORT int swapmeet_phases_begin(MPI_Comm comm) {
  swapmeet::Communicator* const communicator = known(comm);
  if (!communicator) return MPI_ERR_COMM;
  communicator->begin_phases();
  return MPI_SUCCESS;
}

SWAPMEET_EXPORT int swapmeet_phases_end(MPI_Comm comm, double seconds[SWAPMEET_PHASES]) {
  swapmeet::Communicator* const communicator = known(comm);
  if (!communicator) return MPI_ERR_COMM;
  const std::optional<swapmeet::PhaseTimes> times = communicator->end_phases();
  if (!times || !seconds) return MPI_ERR_ARG;
  for (std::size_t phase = 0; phase < times->size(); ++phase)
    seconds[phase] = std::chrono::duration<double>((*times)[phase]).count();
  return MPI_SUCCESS;
}

SWAPMEET_EXPORT const char* swapmeet_phase_name(int phase) {
  return phase >= 0 && phase < SWAPMEET_PHASES ? swapmeet::phase_names[static_cast<std::size_t>(phase)].data() : nullptr;
}

SWAPMEET_EXPORT int swapmeet_trace(MPI_Comm comm, const char* file) {
  swapmeet::Communicator* const communicator = known(comm);
  return communicator ? communicator->trace(file) : MPI_ERR_COMM;
}
