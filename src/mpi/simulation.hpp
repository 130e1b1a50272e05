/// Functions for a host MPI that is simulated by SimGrid. There, ranks are fibres of one thread of one process. Time is
/// simulated, so the library's own work costs nothing unless it is charged. In a library for any other MPI these
/// functions are empty.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace swapmeet {

#ifdef SMPI_H  // SimGrid's mpi.h
inline constexpr bool simulated = true;

/// A small number that identifies the calling rank; 0 outside of ranks.
std::size_t fibre();

/// Adds the cost of a copy of `bytes` bytes in `pieces` pieces, by the properties of hosts in the platform file.
/// settle() charges it.
void copied(std::int64_t bytes, std::int64_t pieces = 1);

/// Adds the cost of gathering or scattering a message of a derived datatype of `pieces` pieces in the MPI. settle()
/// charges it.
void typed(std::int64_t bytes, std::int64_t pieces);

/// Lets simulated time pass for the costs that were added. It is called before a rank sends, before it waits, and at
/// the end of a call.
void settle();

/// Lets simulated time pass between two attempts of a loop that waits for MPI and for node peers. It is called at the
/// end of each iteration. No time passes if something has `moved`. Otherwise the pause is 3 % of the time that the rank
/// has waited so far: so it checks rarely, and notices an event at most 3 % late.
void pass_time(bool moved);

/// Replaces MPI functions that SimGrid does not implement, or implements with less than the library needs.
void replace_missing_functions();
#else
inline constexpr bool simulated = false;
constexpr std::size_t fibre() { return 0; }
inline void copied(std::int64_t, std::int64_t = 1) {}
inline void typed(std::int64_t, std::int64_t) {}
inline void settle() {}
inline void pass_time(bool) {}
inline void replace_missing_functions() {}
#endif

}  // namespace swapmeet
