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

/// One side of an exchange of equal blocks.
template <class Count>
struct EqualSide {
  const void* base;
  Count count;
  MPI_Datatype type;
};

/// One side of an exchange of unequal blocks. `types` has a type for each block (MPI_Alltoallw), or one for all.
template <class Count, class Displacement>
struct UnequalSide {
  const void* base;
  const Count* counts;
  const Displacement* displacements;
  const MPI_Datatype* types;
};

/// Whether MPICH refuses the call because its buffers are the same. Equal buffers are legal if displacements keep the
/// blocks apart, and then this rank must take part in the exchange. So the check finds only the cases that MPICH itself
/// refuses.
inline bool refused_as_aliased(const void* send, const void* receive, bool same_counts, bool same_types) {
  return host_is_mpich && send == receive && send != nullptr && same_counts && same_types;
}

/// Whether MPICH refuses data of `type` at the address NULL. That address is also MPI_BOTTOM, which is legal for types
/// with absolute addresses, and with displacements other than 0. Open MPI does not check this.
bool refused_at_null(MPI_Datatype type);

/// Whether MPICH refuses a block of `count` elements at `base`.
template <class Count>
[[gnu::always_inline]] inline bool refused_as_null(const void* base, Count count, MPI_Datatype type) {
  return !base && count > 0 && refused_at_null(type);
}

/// The first mistake in the arguments of a call with equal blocks. It is inline because every such call passes it.
template <class Count>
[[gnu::always_inline]] inline Mistake mistake_in(const EqualSide<Count>& send, const EqualSide<Count>& receive) {
  using What = Mistake::What;
  if (receive.base == MPI_IN_PLACE) return {What::receive_in_place, true};
  if (receive.count < 0) return {What::negative_count, true};
  if (receive.type == MPI_DATATYPE_NULL) return {What::no_type, true};
  if (refused_as_null(receive.base, receive.count, receive.type)) return {What::no_buffer, true};
  if (send.base == MPI_IN_PLACE) return {};
  if (send.count < 0) return {What::negative_count};
  if (send.type == MPI_DATATYPE_NULL) return {What::no_type};
  if (refused_as_null(send.base, send.count, send.type)) return {What::no_buffer};
  if (refused_as_aliased(send.base, receive.base, send.count == receive.count && send.count > 0,
                         send.type == receive.type))
    return {What::same_buffer};
  return {};
}

/// The first mistake in one side of a call with unequal blocks, which is the receive side if `received`. If `each`
/// block has its own type, MPI_DATATYPE_NULL is valid for blocks without elements.
template <class Count, class Displacement>
Mistake mistake_in(const UnequalSide<Count, Displacement>& side, bool received, bool each, Rank ranks) {
  using What = Mistake::What;
  if (!side.counts || !side.displacements || !side.types) return {What::no_array, received};
  if (!each && side.types[0] == MPI_DATATYPE_NULL) return {What::no_type, received};
  for (Rank i = 0; i < ranks; ++i) {
    if (side.counts[i] < 0) return {What::negative_count, received, i};
    if (each && side.counts[i] > 0 && side.types[i] == MPI_DATATYPE_NULL) return {What::no_type, received, i};
    if (refused_as_null(side.base, side.counts[i], side.types[each ? i : 0]) && side.displacements[i] == 0)
      return {What::no_buffer, received};
  }
  return {};
}

/// The first mistake in the arguments of a call with unequal blocks.
template <class Count, class Displacement>
Mistake mistake_in(const UnequalSide<Count, Displacement>& send, const UnequalSide<Count, Displacement>& receive,
                   bool each, Rank ranks) {
  if (receive.base == MPI_IN_PLACE) return {Mistake::What::receive_in_place, true};
  Mistake found = mistake_in(receive, true, each, ranks);
  if (found || send.base == MPI_IN_PLACE) return found;
  found = mistake_in(send, false, each, ranks);
  const bool same_types = each ? send.types == receive.types : send.types && *send.types == *receive.types;
  if (!found && refused_as_aliased(send.base, receive.base, send.counts == receive.counts, same_types))
    return {Mistake::What::same_buffer};
  return found;
}

/// Whether the arguments of a neighbourhood collective have a mistake. Such calls cannot be in place. If a side has no
/// blocks, its buffer and its arrays are not checked.
template <class Count>
bool mistaken_among_neighbours(const EqualSide<Count>& send, const EqualSide<Count>& receive, const Degrees& blocks) {
  return send.base == MPI_IN_PLACE || receive.base == MPI_IN_PLACE || send.count < 0 || receive.count < 0 ||
         send.type == MPI_DATATYPE_NULL || receive.type == MPI_DATATYPE_NULL ||
         (blocks.out > 0 && refused_as_null(send.base, send.count, send.type)) ||
         (blocks.in > 0 && refused_as_null(receive.base, receive.count, receive.type));
}

template <class Count, class Displacement>
bool mistaken_among_neighbours(const UnequalSide<Count, Displacement>& send,
                               const UnequalSide<Count, Displacement>& receive, const Degrees& blocks, bool each) {
  return send.base == MPI_IN_PLACE || receive.base == MPI_IN_PLACE ||
         (blocks.out > 0 && mistake_in(send, false, each, blocks.out)) ||
         (blocks.in > 0 && mistake_in(receive, true, each, blocks.in));
}

}  // namespace swapmeet
