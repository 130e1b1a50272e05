/// Arguments of an exchange that outlive the call that gave them, of non-blocking, persistent and planned ones.
#pragma once

#include "api/arguments.hpp"
#include "session/planned.hpp"

namespace swapmeet {

// Copies of the arguments, which have no mistake.

template <class Count>
Request request_of(const EqualSide<Count>& send, const EqualSide<Count>& receive) {
  Request request{Collective::alltoall, std::nullopt, {receive.base, std::int64_t{receive.count}, receive.type}};
  if (send.base != MPI_IN_PLACE) request.send.emplace(send.base, std::int64_t{send.count}, send.type);
  return request;
}

template <class Count, class Displacement>
Request request_of(const UnequalSide<Count, Displacement>& send, const UnequalSide<Count, Displacement>& receive,
                   bool each, Rank ranks) {
  Request request{each ? Collective::alltoallw : Collective::alltoallv,
                  std::nullopt,
                  {receive.base, receive.counts, receive.displacements, receive.types, each, ranks}};
  if (send.base != MPI_IN_PLACE)
    request.send.emplace(send.base, send.counts, send.displacements, send.types, each, ranks);
  return request;
}

}  // namespace swapmeet
