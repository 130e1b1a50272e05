/// Messages for a communicator whose ranks do not have the same options.
#pragma once

#include <string>

#include "mpi/mpi.hpp"
#include "options/options.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// Describes the first variable whose value is not the same on all ranks: ", SWAPMEET_X for one: ... on rank 0, ... on
/// rank 3", by ranks of MPI_COMM_WORLD. Returns "" if no variable differs, or a call of MPI has failed. Collective over
/// `team`.
std::string disagreement(const Options& options, Team& team);

/// Lets the first rank that could not use an option or a file print its warnings. Rank 0 of the job has already printed
/// its own. Collective over `team`.
void print_problems(const Options& options, Team& team);

}  // namespace swapmeet
