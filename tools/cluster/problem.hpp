/// Errors of this program, with messages for the user.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace swapmeet::cluster {

using Problem = std::runtime_error;

/// Throws if a system call returned -1. `what` follows "cannot ...".
inline int checked(long result, const std::string& what) {
  if (result < 0) throw Problem("cannot " + what + ": " + std::strerror(errno));
  return static_cast<int>(result);
}

}  // namespace swapmeet::cluster
