/// The MPI entry points that must know of persistent requests of ours: MPI_Start, MPI_Startall, MPI_Request_free.
#pragma once

namespace swapmeet {

/// From now on they look for such requests. Until then they cost a jump.
void watch_requests();

}  // namespace swapmeet
