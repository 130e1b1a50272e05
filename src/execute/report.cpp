#include "execute/report.hpp"

#include <cstdio>

namespace swapmeet {

void warn(const std::string& what) { say("warning: " + what); }

void say(const std::string& what) {
  const std::string line = "swapmeet: " + what + '\n';  // one write, so that ranks do not mix their lines
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace swapmeet
