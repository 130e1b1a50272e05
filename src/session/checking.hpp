/// SWAPMEET_CHECK=1: what ranks pass to an all-to-all, held against one another before anything is exchanged.
#pragma once

#include <string>

#include "buffers/blocks.hpp"
#include "schedule/collective.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// What a rank passes. `send` is meaningless if `in_place`. `neighbourhood`: of an exchange of neighbours.
struct CheckedCall {
  Collective collective;
  bool in_place;
  const Blocks &send, &receive;
  const Neighbourhood* neighbourhood;
};

/// What is wrong: the first mistake that any rank has found, the same on all ranks; "": nothing. Blocks that do not fit,
/// predefined types that do not match, blocks that overlap; other collectives, or MPI_IN_PLACE on some ranks only.
/// Collective over `comm`: an MPI_Allgather, an MPI_Alltoallv and a small agreement; of neighbours also an MPI_Alltoall and
/// another agreement.
std::string mistake_of_ranks(const CheckedCall& mine, MPI_Comm comm);

}  // namespace swapmeet
