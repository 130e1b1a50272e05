/// What the files that this process writes have in common: facts about the process, names, and how they are written.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "schedule/output_file.hpp"

namespace swapmeet {

inline std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Returns `pattern` with `rank` in place of each %r.
inline std::string with_rank(std::string pattern, const std::string& rank) {
  for (std::size_t mark = pattern.find("%r"); mark != pattern.npos; mark = pattern.find("%r", mark + rank.size()))
    pattern.replace(mark, 2, rank);
  return pattern;
}

/// Writes `text` to the file, which is opened as open_output() does. Returns "" or the problem.
inline std::string write_file(const std::string& name, int how, const std::string& text) {
  const Result<int> file = open_output(name, how);
  if (!file) return file.problem().text();
  std::string problem = write_all(*file, text);
  if (close(*file) != 0 && problem.empty()) problem = std::strerror(errno);
  return problem;
}

}  // namespace swapmeet
