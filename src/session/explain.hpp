/// Output of SWAPMEET_EXPLAIN=1.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "session/decision.hpp"
#include "session/members.hpp"

namespace swapmeet {

/// Prints once, on rank 0 of the communicator, which algorithm serves calls of `name` like this one, and why, if
/// explanations are requested.
/// `agreement`: time in which the ranks agreed on block sizes. `how`: text to append.
void explain(std::string_view name, Collective collective, const Members& members, const Decision& decision,
             std::chrono::nanoseconds agreement, std::string_view how = "");

/// Returns a text such as " on 8 ranks".
std::string on_ranks(const Members& members);

/// The name of the persistent collective, as in "Alltoall_init".
std::string name_of_plan(Collective collective);

}  // namespace swapmeet
