/// Messages of the library to the user, on standard error.
#pragma once

#include <mutex>
#include <set>
#include <string>

namespace swapmeet {

/// The lines that this process has printed once, and its rank in MPI_COMM_WORLD. It is part of the process's context
/// (session/context.hpp).
struct Reports {
  std::mutex mutex;
  std::set<std::string> lines;
  int world_rank = 0;
};
Reports& reports();

/// Prints "swapmeet: ...".
void say(const std::string& what);

/// Prints "swapmeet: warning: ...".
void warn(const std::string& what);

/// Prints `what` followed by `more`, unless this process has printed `what` before. Thread-safe.
void say_once(const std::string& what, const std::string& more = "");

/// Prints a warning once in the whole job: only rank 0 of MPI_COMM_WORLD prints it.
void warn_once(const std::string& what, const std::string& more = "");

}  // namespace swapmeet
