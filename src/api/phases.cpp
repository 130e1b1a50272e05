/// The functions swapmeet_phases_begin(), swapmeet_phases_end(), swapmeet_phase_name() and swapmeet_trace().
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "api/failure.hpp"

SWAPMEET_EXPORT int swapmeet_phases_begin(MPI_Comm comm) {
  return swapmeet::guarded_call([&]() -> int {
    swapmeet::Communicator* const communicator = swapmeet::known_to_serve(comm);
    if (!communicator) return swapmeet::no_communicator();
    communicator->observer().begin_phases();
    return MPI_SUCCESS;
  });
}

SWAPMEET_EXPORT int swapmeet_phases_end(MPI_Comm comm, double seconds[SWAPMEET_PHASES]) {
  return swapmeet::guarded_call([&]() -> int {
    swapmeet::Communicator* const communicator = swapmeet::known_to_serve(comm);
    if (!communicator) return swapmeet::no_communicator();
    const std::optional<swapmeet::PhaseTimes> times = communicator->observer().end_phases();
    if (!times || !seconds)
      return swapmeet::failed(
          MPI_ERR_ARG, seconds ? "phases were not measured: swapmeet_phases_begin() begins that" : "`seconds` is NULL");
    for (std::size_t phase = 0; phase < times->size(); ++phase)
      seconds[phase] = std::chrono::duration<double>((*times)[phase]).count();
    return MPI_SUCCESS;
  });
}

SWAPMEET_EXPORT const char* swapmeet_phase_name(int phase) {
  return phase >= 0 && phase < SWAPMEET_PHASES ? swapmeet::phase_names[static_cast<std::size_t>(phase)].data()
                                               : nullptr;
}

SWAPMEET_EXPORT int swapmeet_trace(MPI_Comm comm, const char* file) {
  return swapmeet::guarded_call([&]() -> int {
    swapmeet::Communicator* const communicator = swapmeet::known(comm);
    if (!communicator) return swapmeet::no_communicator();
    const int error = communicator->observer().trace(file);
    return error ? swapmeet::failed(error) : error;
  });
}
