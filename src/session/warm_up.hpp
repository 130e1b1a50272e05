/// What is done once before the first call, so that the first call of a process takes no longer than others.
#pragma once

#include "session/context.hpp"

namespace swapmeet {

/// Maps the code of the library, and makes the tables that exceptions and the first exchange need. Local.
void warm_up(Context& all);

}  // namespace swapmeet
