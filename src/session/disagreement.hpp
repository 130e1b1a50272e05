/// What is told where the ranks of a communicator do not have the same options.
#pragma once

#include <string>

#include "mpi/mpi.hpp"
#include "options/options.hpp"
#include "team/peers.hpp"

namespace swapmeet {

/// ", SWAPMEET_X for one: ... on rank 0, ... on rank 3" (of MPI_COMM_WORLD), of the first variable whose value is not the same
/// everywhere; "": of none, or a call of MPI has failed. Collective over `peers`.
std::string disagreement(const Options& options, const Peers& peers);

/// Has the first rank that could not use an option or a file say why: rank 0 of the job has spoken for itself. Collective over
/// `peers`.
void tell_problems(const Options& options, const Peers& peers);

}  // namespace swapmeet
