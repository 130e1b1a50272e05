/// Starting an all-to-all of the MPI underneath.
#pragma once

#include "execute/kept_blocks.hpp"
#include "select/select.hpp"

namespace swapmeet {

/// Starts the exchange of `send` (nullptr: in place) and `receive`, which stay until it is complete. Returns as MPI
/// does.
int start_native(Collective collective, const KeptBlocks* send, const KeptBlocks& receive, MPI_Comm comm,
                 MPI_Request* request);

}  // namespace swapmeet
