/// A measurement of the network between nodes by the job's own ranks, in bounded time. Prices are based on it if no
/// description of the machine is given (choose/description.hpp).
#pragma once

#include "choose/description.hpp"
#include "schedule/schedule.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// Measures messages between rank 0 and `partner`: round trips of 8 B to 64 KiB, the shortest of three each, and eight
/// small messages in a row. Also measures copies within rank 0.
/// The measurement takes at most 0.5 % of the time since rank 0 loaded the library, and at most 20 ms. A step, except
/// the first, that would exceed the remaining time is skipped, and measured in a later call. Results of rank 0's
/// process are kept and reused. Returns the same on all ranks. Collective over `team`, in which no other message may
/// be under way.
MeasuredNetwork probe_network(Team& team, Rank partner);

}  // namespace swapmeet
