/// Copies of the arguments of non-blocking, persistent and planned exchanges, which outlive the call that gave them.
#pragma once

#include "api/arguments.hpp"
#include "session/planned.hpp"

namespace swapmeet {

// The functions copy arguments in which no mistake was found.

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
