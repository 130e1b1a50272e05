/// The arguments of an all-to-all as the application gave them. call_of() makes an object of them, of a type for each
/// shape of arguments, for the entry points of blocking, non-blocking and persistent calls.
#pragma once

#include <algorithm>
#include <optional>

#include "api/request.hpp"
#include "interpose/foreign.hpp"
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

  bool mistaken(const Degrees& blocks) const {
    if constexpr (neighbours) return mistaken_among_neighbours(send, receive, blocks);
    else return static_cast<bool>(mistake_in(send, receive));
  }
  Arguments arguments(Communicator& communicator, const Degrees& blocks) const {
    Datatypes& types = communicator.memory().datatypes;
    const Blocks in(receive.base, std::int64_t{receive.count}, types[receive.type]);
    const bool in_place = send.base == MPI_IN_PLACE;
    const Datatype& sent = in_place || send.type == receive.type ? in.type(0) : types[send.type];
    const Blocks out = in_place ? in : Blocks(send.base, std::int64_t{send.count}, sent);
    return {collective, in_place, out, in, blocks, neighbours ? communicator.neighbours().neighbourhood() : nullptr};
  }
  std::int64_t block_bytes(Communicator& communicator) const {
    return neighbours ? 0 : receive.count * communicator.memory().datatypes[receive.type].size;
  }
  /// On an intercommunicator a rank may send data and receive none.
  bool sends(Communicator& communicator) const {
    return send.base != MPI_IN_PLACE && send.count > 0 && communicator.memory().datatypes[send.type].size > 0;
  }
  /// Whether the call may be passed to the host MPI unchanged. A call with elements, but without data, may not: MPICH
  /// 5.0 divides by the size of the type.
  bool may_pass_unchanged(std::int64_t bytes) const {
    return neighbours || bytes > 0 || (receive.count == 0 && (send.count == 0 || send.base == MPI_IN_PLACE));
  }
  /// Whether there are two different buffers.
  bool has_buffers() const { return are_two_buffers(send.base, receive.base); }
  bool is(const Request& one) const {
    return one.collective == collective && one.send->is(send.count, send.type) &&
           one.receive.is(receive.count, receive.type);
  }
  void for_each_type(const Degrees&, auto use) const {
    if (send.base != MPI_IN_PLACE) use(send.type, send.count > 0);
    use(receive.type, receive.count > 0);
  }
  static constexpr Collective collective = neighbours ? Collective::neighbor_alltoall : Collective::alltoall;
};

/// The arguments of a call with unequal blocks. `each` is true if each block has a type of its own (MPI_Alltoallw).
template <class Count, class Displacement, bool each, bool neighbours>
struct UnequalArguments {
  using Side = UnequalSide<Count, Displacement>;
  Side send, receive;

  bool mistaken(const Degrees& blocks) const {
    if constexpr (neighbours) return mistaken_among_neighbours(send, receive, blocks, each);
    else return static_cast<bool>(mistake_in(send, receive, each, blocks.in));
  }
  Arguments arguments(Communicator& communicator, const Degrees& blocks) const {
    const bool in_place = send.base == MPI_IN_PLACE;
    const Blocks in = received(communicator, blocks.in);
    const Neighbourhood* const neighbourhood = neighbours ? communicator.neighbours().neighbourhood() : nullptr;
    return {collective, in_place, in_place ? in : sent(communicator, blocks.out), in, blocks, neighbourhood};
  }
  // If a side has no blocks, its arrays are not read, because they may then be invalid.
  Blocks received(Communicator& communicator, Rank blocks) const {
    if (blocks == 0) return {receive.base, 0, byte_type()};
    if constexpr (each)
      return {receive.base, receive.counts, receive.displacements,
              communicator.memory().types_to_receive(receive.types, blocks)};
    else return {receive.base, receive.counts, receive.displacements, communicator.memory().datatypes[*receive.types]};
  }
  Blocks sent(Communicator& communicator, Rank blocks) const {
    if (blocks == 0) return {send.base, 0, byte_type()};
    if constexpr (each)
      return {send.base, send.counts, send.displacements, communicator.memory().types_to_send(send.types, blocks)};
    else return {send.base, send.counts, send.displacements, communicator.memory().datatypes[*send.types]};
  }
  std::int64_t block_bytes(Communicator&) const { return 0; }
  static bool may_pass_unchanged(std::int64_t) { return true; }
  /// Whether there are two different buffers, and all arrays.
  bool has_buffers() const {
    const auto has_arrays = [](const Side& side) { return side.counts && side.displacements && side.types; };
    return are_two_buffers(send.base, receive.base) && has_arrays(send) && has_arrays(receive);
  }
  bool is(const Request& one) const {
    return one.collective == collective && is(*one.send, send, one.blocks.out) &&
           is(one.receive, receive, one.blocks.in);
  }
  static bool is(const OwnedBlocks& owned, const Side& side, int blocks) {
    return owned.is(side.counts, side.displacements, side.types, each, blocks);
  }
  void for_each_type(const Degrees& blocks, auto use) const {
    const auto use_all = [&](const Side& side, std::int32_t number) {
      if constexpr (each)
        for (std::int32_t i = 0; i < number; ++i) use(side.types[i], side.counts[i] > 0);
      else use(*side.types, std::any_of(side.counts, side.counts + number, [](Count count) { return count > 0; }));
    };
    if (send.base != MPI_IN_PLACE) use_all(send, blocks.out);
    use_all(receive, blocks.in);
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

/// Copies of the arguments, which outlive the call. Requires that there is no mistake in the arguments.
template <class Given>
Request request_of(const Given& given, Communicator& communicator, const Degrees& blocks) {
  Request request = request_of(Given::collective, given.send, given.receive, blocks);
  if constexpr (of_neighbours(Given::collective))
    request.neighbourhood = communicator.neighbours().shared_neighbourhood();
  return request;
}

}  // namespace swapmeet

// The parameters of an all-to-all up to the communicator, of each shape: `equal` blocks, `unequal` ones, and unequal ones
// that are `typed` each. SWAPMEET_GIVEN_: the arguments as the application gave them. SWAPMEET_HERE_: the same with
// handles converted (interpose/foreign.hpp), as call_of() takes them.
#define SWAPMEET_PARAMETERS_equal(Count, Displacement)                                             \
  const void *sendbuf, Count sendcount, swapmeet::Handle sendtype, void *recvbuf, Count recvcount, \
      swapmeet::Handle recvtype
#define SWAPMEET_PARAMETERS_unequal(Count, Displacement)                                                               \
  const void *sendbuf, const Count *sendcounts, const Displacement *sdispls, swapmeet::Handle sendtype, void *recvbuf, \
      const Count *recvcounts, const Displacement *rdispls, swapmeet::Handle recvtype
#define SWAPMEET_PARAMETERS_typed(Count, Displacement)                                                      \
  const void *sendbuf, const Count *sendcounts, const Displacement *sdispls, const MPI_Datatype *sendtypes, \
      void *recvbuf, const Count *recvcounts, const Displacement *rdispls, const MPI_Datatype *recvtypes
#define SWAPMEET_GIVEN_equal sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define SWAPMEET_GIVEN_unequal sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define SWAPMEET_GIVEN_typed sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes
#define SWAPMEET_HERE_equal \
  sendbuf, sendcount, swapmeet::as<MPI_Datatype>(sendtype), recvbuf, recvcount, swapmeet::as<MPI_Datatype>(recvtype)
#define SWAPMEET_HERE_unequal                                                                       \
  sendbuf, sendcounts, sdispls, swapmeet::as<MPI_Datatype>(sendtype), recvbuf, recvcounts, rdispls, \
      swapmeet::as<MPI_Datatype>(recvtype)
#define SWAPMEET_HERE_typed SWAPMEET_GIVEN_typed
