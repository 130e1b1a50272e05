/// The functions swapmeet_phases_begin(), swapmeet_phases_end(), swapmeet_phase_name() and swapmeet_trace().
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include "api/export.hpp"
#include "api/failure.hpp"

SWAPMEET_EXPORT int swapmeet_phases_begin(MPI_Comm comm) {
  const auto begin = [](swapmeet::Communicator& communicator) {
    communicator.observer().begin_phases();
    return MPI_SUCCESS;
  };
  return swapmeet::call_on(comm, begin, swapmeet::serving_from_now_on);
}

SWAPMEET_EXPORT int swapmeet_phases_end(MPI_Comm comm, double seconds[SWAPMEET_PHASES]) {
  const auto end = [&](swapmeet::Communicator& communicator) -> int {
    const std::optional<swapmeet::PhaseTimes> times = communicator.observer().end_phases();
    if (!times || !seconds)
      return swapmeet::failed(
          MPI_ERR_ARG, seconds ? "phases were not measured: swapmeet_phases_begin() begins that" : "`seconds` is NULL");
    for (std::size_t phase = 0; phase < times->size(); ++phase)
      seconds[phase] = std::chrono::duration<double>((*times)[phase]).count();
    return MPI_SUCCESS;
  };
  return swapmeet::call_on(comm, end, swapmeet::serving_from_now_on);
}

SWAPMEET_EXPORT const char* swapmeet_phase_name(int phase) {
  return phase >= 0 && phase < SWAPMEET_PHASES ? swapmeet::phase_names[static_cast<std::size_t>(phase)].data()
                                               : nullptr;
}

SWAPMEET_EXPORT int swapmeet_trace(MPI_Comm comm, const char* file) {
  return swapmeet::call_on(comm, [&](swapmeet::Communicator& communicator) -> int {
    const int error = communicator.observer().trace(file);
    return error ? swapmeet::failed(error) : error;
  });
}
