/// The arguments of an all-to-all as the application gave them. call_of() makes an object of them, of a type for each
/// shape of arguments, for blocking, non-blocking, persistent and planned calls.
#pragma once

#include <optional>
#include <vector>

#include "api/arguments.hpp"
#include "session/communicator.hpp"

namespace swapmeet {

inline bool are_two_buffers(const void* send, const void* receive) {
  return send && receive && send != receive && send != MPI_IN_PLACE && receive != MPI_IN_PLACE;
}

/// The arguments of a call with equal blocks, as the application gave them. `neighbours` is true for a neighbourhood
/// collective.
template <class Count, bool neighbours>
struct EqualArguments {
  EqualSide<Count> send, receive;

  /// The first mistake in a call that has no neighbours.
  Mistake mistake(const Degrees&) const { return mistake_in(send, receive, 1); }
  bool mistaken(const Degrees& blocks) const {
    if constexpr (neighbours) return mistaken_among_neighbours(send, receive, blocks);
    else return static_cast<bool>(mistake(blocks));
  }
  Arguments arguments(Communicator& communicator, const Degrees& blocks) const {
    Datatypes& types = communicator.memory().datatypes;
    const Blocks in(receive.base, std::int64_t{receive.count}, types[receive.type]);
    const bool in_place = send.base == MPI_IN_PLACE;
    const Datatype& sent = in_place || send.type == receive.type ? in.type(0) : types[send.type];
    const Blocks out = in_place ? in : Blocks(send.base, std::int64_t{send.count}, sent);
    return {collective, in_place, out, in, blocks, neighbours ? communicator.neighbours().neighbourhood() : nullptr};
  }
  /// Whether there are two different buffers.
  bool has_buffers() const { return are_two_buffers(send.base, receive.base); }
  /// Whether the arguments equal those of `one`, except for the buffers.
  bool is(const Arguments& one) const {
    const auto alike = [](const Blocks& known, const EqualSide<Count>& side) {
      return known.count(0) == side.count && known.type(0).handle == side.type;
    };
    return one.collective == collective && alike(one.send, send) && alike(one.receive, receive);
  }
  std::vector<MPI_Datatype> types(const Degrees&) const {
    return {send.base == MPI_IN_PLACE ? receive.type : send.type, receive.type};
  }
  static constexpr Collective collective = neighbours ? Collective::neighbor_alltoall : Collective::alltoall;
};

/// The arguments of a call with unequal blocks. `each` is true if each block has a type of its own (MPI_Alltoallw).
template <class Count, class Displacement, bool each, bool neighbours>
struct UnequalArguments {
  using Side = UnequalSide<Count, Displacement, each>;
  Side send, receive;

  Mistake mistake(const Degrees& blocks) const { return mistake_in(send, receive, blocks.in); }
  bool mistaken(const Degrees& blocks) const {
    if constexpr (neighbours) return mistaken_among_neighbours(send, receive, blocks);
    else return static_cast<bool>(mistake(blocks));
  }
  Arguments arguments(Communicator& communicator, const Degrees& blocks) const {
    CallMemory& memory = communicator.memory();
    const bool in_place = send.base == MPI_IN_PLACE;
    const Blocks in = described(receive, blocks.in, memory.datatypes, memory.receive_types);
    const Blocks out = in_place ? in : described(send, blocks.out, memory.datatypes, memory.send_types);
    return {collective, in_place, out, in, blocks, neighbours ? communicator.neighbours().neighbourhood() : nullptr};
  }
  // If a side has no blocks, its arrays are not read, because they may then be invalid.
  static Blocks described(const Side& side, Rank blocks, Datatypes& types, BlockTypes& of_blocks) {
    if (blocks == 0) return {side.base, 0, byte_type()};
    if constexpr (each)
      return {side.base, side.counts, side.displacements, of_blocks.look_up(types, side.types, blocks)};
    else return {side.base, side.counts, side.displacements, types[*side.types]};
  }
  /// Whether there are two different buffers, and all arrays.
  bool has_buffers() const {
    const auto has_arrays = [](const Side& side) { return side.counts && side.displacements && side.types; };
    return are_two_buffers(send.base, receive.base) && has_arrays(send) && has_arrays(receive);
  }
  bool is(const Arguments& one) const {
    const auto alike = [](const Blocks& known, const Side& side, Rank blocks) {
      for (Rank i = 0; i < blocks; ++i)
        if (known.count(i) != side.counts[i] || known.displacement(i) != side.displacements[i] ||
            known.type(i).handle != side.types[each ? i : 0])
          return false;
      return true;
    };
    return one.collective == collective && alike(one.send, send, one.blocks.out) &&
           alike(one.receive, receive, one.blocks.in);
  }
  std::vector<MPI_Datatype> types(const Degrees& blocks) const {
    std::vector<MPI_Datatype> all(receive.types, receive.types + (each ? blocks.in : 1));
    if (send.base != MPI_IN_PLACE) all.insert(all.end(), send.types, send.types + (each ? blocks.out : 1));
    return all;
  }
  static constexpr Collective collective = neighbours
                                               ? each ? Collective::neighbor_alltoallw : Collective::neighbor_alltoallv
                                           : each ? Collective::alltoallw
                                                  : Collective::alltoallv;
};

template <bool neighbours, class Count>
EqualArguments<Count, neighbours> call_of(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
                                          Count receive_count, MPI_Datatype receive_type) {
  return {{send, send_count, send_type}, {receive, receive_count, receive_type}};
}

template <bool neighbours, class Count, class Displacement>
UnequalArguments<Count, Displacement, false, neighbours> call_of(const void* send, const Count* send_counts,
                                                                 const Displacement* send_displacements,
                                                                 const MPI_Datatype& send_type, void* receive,
                                                                 const Count* receive_counts,
                                                                 const Displacement* receive_displacements,
                                                                 const MPI_Datatype& receive_type) {
  return {{send, send_counts, send_displacements, &send_type},
          {receive, receive_counts, receive_displacements, &receive_type}};
}

template <bool neighbours, class Count, class Displacement>
UnequalArguments<Count, Displacement, true, neighbours> call_of(const void* send, const Count* send_counts,
                                                                const Displacement* send_displacements,
                                                                const MPI_Datatype* const& send_types, void* receive,
                                                                const Count* receive_counts,
                                                                const Displacement* receive_displacements,
                                                                const MPI_Datatype* const& receive_types) {
  return {{send, send_counts, send_displacements, send_types},
          {receive, receive_counts, receive_displacements, receive_types}};
}

/// The number of blocks on each side of a call. Returns nothing if a neighbourhood collective is called on a
/// communicator without a virtual topology.
template <class Given>
std::optional<Degrees> blocks_of(Communicator& communicator) {
  if constexpr (!of_neighbours(Given::collective)) return Degrees{communicator.ranks(), communicator.ranks()};
  else if (const Neighbourhood* const neighbourhood = communicator.neighbours().neighbourhood())
    return neighbourhood->degrees();
  return std::nullopt;
}

/// The neighbourhood of the call's arguments, for a KeptCall; nullptr if the collective has none.
template <class Given>
std::shared_ptr<const Neighbourhood> shared_neighbourhood_of(const Given&, Communicator& communicator) {
  if constexpr (of_neighbours(Given::collective)) return communicator.neighbours().shared_neighbourhood();
  else return nullptr;
}

}  // namespace swapmeet
