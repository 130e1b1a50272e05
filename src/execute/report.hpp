/// What the library says to people, on standard error.
#pragma once

#include <string>

namespace swapmeet {

/// "swapmeet: warning: ..."
void warn(const std::string& what);

/// "swapmeet: ..."
void say(const std::string& what);

}  // namespace swapmeet
