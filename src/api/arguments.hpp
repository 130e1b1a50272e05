/// Checks of the arguments of an all-to-all, for blocking, non-blocking, persistent and planned calls alike. MPI calls
/// with a mistake are left to the host MPI, which reports the error in its own way.
#pragma once

#include <string>

#include "mpi/mpi.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// A mistake in the arguments, or none.
struct Mistake {
  enum class What : std::uint8_t { none, receive_in_place, no_array, negative_count, no_type, no_buffer, same_buffer };
  What what = What::none;
  bool received = false;  ///< whether it is on the receive side
  Rank block = 0;         ///< block with the wrong count or type

  explicit operator bool() const { return what != What::none; }
};
/// A sentence about `mistake`; "" if there is none.
std::string to_text(const Mistake& mistake);

/// Whether MPICH refuses data of `type` at the address NULL. That address is also MPI_BOTTOM, which is legal for types
/// with absolute addresses, and with displacements other than 0. Open MPI does not check this.
bool refused_at_null(MPI_Datatype type);

/// Whether MPICH refuses a block of `count` elements at `base`.
template <class Count>
[[gnu::always_inline]] inline bool refused_as_null(const void* base, Count count, MPI_Datatype type) {
  return !base && count > 0 && refused_at_null(type);
}

/// One side of an exchange of equal blocks.
template <class Count>
struct EqualSide {
  const void* base;
  Count count;
  MPI_Datatype type;

  /// Whether the blocks are equal to those of the other side, and not empty.
  bool like(const EqualSide& other) const { return count == other.count && count > 0 && type == other.type; }

  /// The first mistake in this side of a call, which is the receive side if `received`. It is inline because every call
  /// with equal blocks passes it. `blocks`: number of blocks; 0: the buffer is not checked.
  [[gnu::always_inline]] Mistake mistake(bool received, Rank blocks) const {
    using What = Mistake::What;
    if (count < 0) return {What::negative_count, received};
    if (type == MPI_DATATYPE_NULL) return {What::no_type, received};
    if (blocks > 0 && refused_as_null(base, count, type)) return {What::no_buffer, received};
    return {};
  }
};

/// One side of an exchange of unequal blocks. `types` has a type for `each` block (MPI_Alltoallw), or one for all.
template <class Count, class Displacement, bool each>
struct UnequalSide {
  const void* base;
  const Count* counts;
  const Displacement* displacements;
  const MPI_Datatype* types;

  bool like(const UnequalSide& other) const {
    return counts == other.counts && (each ? types == other.types : types && *types == *other.types);
  }

  /// As for EqualSide. If each block has its own type, MPI_DATATYPE_NULL is valid for blocks without elements. If there
  /// are no blocks, the arrays are not read.
  Mistake mistake(bool received, Rank blocks) const {
    using What = Mistake::What;
    if (blocks == 0) return {};
    if (!counts || !displacements || !types) return {What::no_array, received};
    if (!each && types[0] == MPI_DATATYPE_NULL) return {What::no_type, received};
    for (Rank i = 0; i < blocks; ++i) {
      if (counts[i] < 0) return {What::negative_count, received, i};
      if (each && counts[i] > 0 && types[i] == MPI_DATATYPE_NULL) return {What::no_type, received, i};
      if (refused_as_null(base, counts[i], types[each ? i : 0]) && displacements[i] == 0)
        return {What::no_buffer, received};
    }
    return {};
  }
};

/// The first mistake in the arguments of a call with so many blocks on each side. MPICH refuses some calls because their
/// buffers are the same. Equal buffers are legal if displacements keep the blocks apart, and then this rank must take part
/// in the exchange. So the check finds only the cases that MPICH itself refuses.
template <class Side>
[[gnu::always_inline]] inline Mistake mistake_in(const Side& send, const Side& receive, Rank blocks) {
  if (receive.base == MPI_IN_PLACE) return {Mistake::What::receive_in_place, true};
  if (const Mistake found = receive.mistake(true, blocks); found || send.base == MPI_IN_PLACE) return found;
  if (const Mistake found = send.mistake(false, blocks)) return found;
  if (host_is_mpich && send.base == receive.base && send.base && send.like(receive))
    return {Mistake::What::same_buffer};
  return {};
}

/// Whether the arguments of a neighbourhood collective have a mistake. Such calls cannot be in place.
template <class Side>
bool mistaken_among_neighbours(const Side& send, const Side& receive, const Degrees& blocks) {
  return send.base == MPI_IN_PLACE || receive.base == MPI_IN_PLACE || send.mistake(false, blocks.out) ||
         receive.mistake(true, blocks.in);
}

}  // namespace swapmeet
