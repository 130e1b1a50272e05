/// What differs where SimGrid simulates the MPI: ranks are fibres of one thread of one process, and time is simulated,
/// so that what the library does costs none unless it says so. Nothing of this is left in a library for any other MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace swapmeet {

#ifdef SMPI_H  // SimGrid's mpi.h
inline constexpr bool simulated = true;

/// A small number that is the calling rank's own; 0: called by none.
std::size_t fibre();

/// So many bytes were copied, in so many pieces, which costs what the platform says of its hosts. Charged by settle().
void copied(std::int64_t bytes, std::int64_t pieces = 1);

/// The MPI gathers or scatters a message of a derived datatype of so many pieces.
void typed(std::int64_t bytes, std::int64_t pieces);

/// Lets the rank pay for its copies: before it sends, before it waits, and at the end.
void settle();

/// At the end of each turn of a loop that waits for MPI and for ranks of the node: unless something has `moved`, time
/// passes until it looks again. The longer the rank has waited, the more, by 3 % of that: so it looks seldom, and is
/// hardly late.
void pass_time(bool moved);

/// Replaces the calls that SimGrid has by name only, or that do less than we rely on.
void take_what_is_missing();
#else
inline constexpr bool simulated = false;
constexpr std::size_t fibre() { return 0; }
inline void copied(std::int64_t, std::int64_t = 1) {}
inline void typed(std::int64_t, std::int64_t) {}
inline void settle() {}
inline void pass_time(bool) {}
inline void take_what_is_missing() {}
#endif

}  // namespace swapmeet
