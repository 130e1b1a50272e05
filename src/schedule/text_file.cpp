#include "schedule/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace swapmeet {

Result<std::string> text_of_file(const std::string& file, std::size_t most_bytes) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return Problem{std::strerror(errno), errno == ENOENT || errno == ENOTDIR ? -1 : 0};
  struct stat status{};
  std::string text;
  Problem problem;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    problem.what = "not a file";
  } else if (status.st_size > static_cast<off_t>(most_bytes)) {
    problem.what = "more than " + std::to_string(most_bytes >> 20) + " MiB";
  } else {
    text.resize(static_cast<std::size_t>(status.st_size));
    std::size_t length = 0;
    for (ssize_t got = 1; got > 0 && length < text.size();
         length += static_cast<std::size_t>(std::max<ssize_t>(got, 0))) {
      got = read(descriptor, text.data() + length, text.size() - length);
      if (got < 0) problem.what = std::strerror(errno);
    }
    text.resize(length);
  }
  close(descriptor);
  if (!problem.what.empty()) return problem;
  return text;
}

}  // namespace swapmeet
