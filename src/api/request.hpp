/// Arguments of an exchange that outlive the call that gave them, of non-blocking, persistent and planned ones.
#pragma once

#include "api/arguments.hpp"
#include "session/planned.hpp"

namespace swapmeet {

// Copies of the arguments, which have no mistake.

template <class Count>
Request request_of(Collective collective, const EqualSide<Count>& send, const EqualSide<Count>& receive,
                   const Degrees& blocks) {
  Request request{collective, std::nullopt, {receive.base, std::int64_t{receive.count}, receive.type}, blocks};
  if (send.base != MPI_IN_PLACE) request.send.emplace(send.base, std::int64_t{send.count}, send.type);
  return request;
}

template <class Count, class Displacement>
Request request_of(Collective collective, const UnequalSide<Count, Displacement>& send,
                   const UnequalSide<Count, Displacement>& receive, const Degrees& blocks) {
  const bool each = collective == Collective::alltoallw || collective == Collective::neighbor_alltoallw;
  Request request{collective,
                  std::nullopt,
                  {receive.base, receive.counts, receive.displacements, receive.types, each, blocks.in},
                  blocks};
  if (send.base != MPI_IN_PLACE)
    request.send.emplace(send.base, send.counts, send.displacements, send.types, each, blocks.out);
  return request;
}

}  // namespace swapmeet
