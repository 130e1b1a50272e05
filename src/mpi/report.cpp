#include "mpi/report.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "mpi/guard.hpp"
#include "schedule/output_file.hpp"

namespace swapmeet {

void say(const std::string& what) {
  const std::string line = "swapmeet: " + what + '\n';  // one write, so that lines of ranks are not interleaved
  const WritesWithoutSignals held;
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void warn(const std::string& what) { say("warning: " + what); }

void say_once(const std::string& what, const std::string& more) {
  Reports& all = reports();
  const std::lock_guard lock(all.mutex);
  if (all.lines.insert(what).second) say(what + more);
}

void warn_once(const std::string& what, const std::string& more) {
  if (reports().world_rank == 0) say_once("warning: " + what, more);
}

int reported(int error, const char* what) noexcept {
  try {
    say_once("error: " + std::string(what));
  } catch (const std::exception&) { std::fputs("swapmeet: error: out of memory\n", stderr); }
  return error;
}

}  // namespace swapmeet

#ifdef __GLIBCXX__
/// The handler that the C++ runtime calls to terminate the process. It replaces the runtime's own, which would print
/// the name of the exception and for that link a demangler of 44 KB into the library.
void __gnu_cxx::__verbose_terminate_handler() {
  std::fputs("swapmeet: error: an error that nothing handles; please report it\n", stderr);
  std::abort();
}
#endif
