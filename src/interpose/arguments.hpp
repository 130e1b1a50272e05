/// Whether the arguments of a call look right. Those that cannot be right go to the host MPI, which says so in
/// its own way.
#pragma once

#include "mpi/mpi.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

inline bool usable(const void* receive, MPI_Datatype type, MPI_Comm comm) {
  return comm != MPI_COMM_NULL && type != MPI_DATATYPE_NULL && receive != MPI_IN_PLACE;
}

/// Whether MPICH refuses the call because its buffers coincide. Where displacements keep blocks apart that is legal,
/// and then a rank must not leave the others: so only what MPICH itself refuses.
inline bool refused_as_aliased(const void* send, const void* receive, bool same_counts, bool same_types) {
  return host_is_mpich && send == receive && send != nullptr && same_counts && same_types;
}

/// Those of an exchange of equal blocks. Inline: it is on the way of every such call.
template <class Count>
[[gnu::always_inline]] inline bool usable(const void* send, Count send_count, MPI_Datatype send_type,
                                          const void* receive, Count receive_count, MPI_Datatype receive_type,
                                          MPI_Comm comm) {
  return usable(receive, receive_type, comm) && receive_count >= 0 &&
         (send == MPI_IN_PLACE || (send_type != MPI_DATATYPE_NULL && send_count >= 0 &&
                                   !refused_as_aliased(send, receive, send_count == receive_count && send_count > 0,
                                                       send_type == receive_type)));
}

template <class Count>
bool no_negative(const Count* counts, Rank ranks) {
  for (Rank i = 0; i < ranks; ++i)
    if (counts[i] < 0) return false;
  return true;
}

/// MPI_DATATYPE_NULL is a type like any other where nothing is to be sent or received.
template <class Count>
bool has_types(const Count* counts, const MPI_Datatype* types, Rank ranks) {
  for (Rank i = 0; i < ranks; ++i)
    if (counts[i] > 0 && types[i] == MPI_DATATYPE_NULL) return false;
  return true;
}

}  // namespace swapmeet
