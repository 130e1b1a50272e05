#include "mpi/report.hpp"

#include <cstdio>
#include <exception>

#include "mpi/guard.hpp"
#include "schedule/output_file.hpp"

namespace swapmeet {

void say(const std::string& what) {
  const std::string line = "swapmeet: " + what + '\n';  // one write, so that ranks do not mix their lines
  const WritesWithoutSignals held;
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void warn(const std::string& what) { say("warning: " + what); }

void say_once(const std::string& what, const std::string& more) {
  Said& all = said();
  const std::lock_guard lock(all.mutex);
  if (all.lines.insert(what).second) say(what + more);
}

void warn_once(const std::string& what, const std::string& more) {
  if (said().world_rank == 0) say_once("warning: " + what, more);
}

int reported(int error, const char* what) noexcept {
  try {
    say_once("error: " + std::string(what));
  } catch (const std::exception&) { std::fputs("swapmeet: error: out of memory\n", stderr); }
  return error;
}

}  // namespace swapmeet
