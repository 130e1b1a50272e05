/// What the library says to people, on standard error.
#pragma once

#include <mutex>
#include <set>
#include <string>

namespace swapmeet {

/// What this process has said so far, and who it is; part of its context (session/context.hpp).
struct Reports {
  std::mutex mutex;
  std::set<std::string> lines;
  int world_rank = 0;
};
Reports& reports();

/// "swapmeet: ..."
void say(const std::string& what);

/// "swapmeet: warning: ..."
void warn(const std::string& what);

/// Says `what` and then `more`, unless this process has said `what` before.
void say_once(const std::string& what, const std::string& more = "");

/// Warns so, once in the whole job: rank 0 of MPI_COMM_WORLD speaks.
void warn_once(const std::string& what, const std::string& more = "");

}  // namespace swapmeet
