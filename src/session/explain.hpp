/// What SWAPMEET_EXPLAIN=1 prints.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "session/communicator.hpp"

namespace swapmeet {

/// Says on rank 0 of the communicator, once, what serves calls of `name` like this one. `agreement`: how long the ranks took
/// to agree on sizes. `how`: what else there is to say.
void explain(std::string_view name, Collective collective, const Communicator& communicator, const Decision& decision,
             std::chrono::nanoseconds agreement, std::string_view how = "");

/// The same of a persistent request, once for each; if somebody wants to know.
void explain_plan(Collective collective, const Communicator& communicator, const std::string& spec,
                  const std::string& reason);

/// "Alltoall_init"
std::string name_of_plan(Collective collective);

}  // namespace swapmeet
