/// Start of a non-blocking all-to-all of the host MPI.
#pragma once

#include "buffers/owned_blocks.hpp"
#include "choose/select.hpp"

namespace swapmeet {

/// Starts the exchange of `send` (nullptr: in place) and `receive`. Both must not change until it is complete. Returns
/// as MPI does.
int start_native(Collective collective, const OwnedBlocks* send, const OwnedBlocks& receive, MPI_Comm comm,
                 MPI_Request* request);

}  // namespace swapmeet
