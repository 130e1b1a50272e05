/// What a message between nodes takes, measured by the job's own ranks, in bounded time: what prices rest on where nobody
/// has described the machine (choose/description.hpp).
#pragma once

#include "choose/description.hpp"
#include "schedule/schedule.hpp"
#include "team/peers.hpp"

namespace swapmeet {

/// By messages of 8 B to 64 KiB there and back between rank 0 and `partner`, the shortest of three each, by eight small
/// ones in a row, and by copies of rank 0. Takes at most 0.5 % of the time since rank 0 began, and 20 ms: what is expected
/// to take more than is left is left out, and measured when it is asked for again, and time has gone by. What the process of
/// rank 0 has measured before holds on. Collective over `peers`, among whom no other
/// message may be under way; the same on all ranks.
MeasuredNetwork probe_network(const Peers& peers, Rank rank, Rank partner);

}  // namespace swapmeet
