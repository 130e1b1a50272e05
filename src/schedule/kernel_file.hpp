/// Readers of the kernel's files in /proc and /sys, whose sizes are unknown before they are read, and facts from them.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace swapmeet {

/// Returns the contents of the file. Reading stops after `most` bytes; up to 4095 bytes more may be returned. Returns
/// "" if the file cannot be read.
inline std::string read_kernel_file(const std::string& file, std::size_t most = std::size_t{1} << 24) {
  std::string text;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return text;
  char part[4096];
  for (ssize_t bytes = 1; bytes > 0 && text.size() < most;) {
    bytes = ::read(descriptor, part, sizeof part);
    if (bytes > 0) text.append(part, static_cast<std::size_t>(bytes));
  }
  ::close(descriptor);
  return text;
}

/// Returns the first line of the file, without its line end.
inline std::string first_line_of_kernel_file(const std::string& file) {
  const std::string text = read_kernel_file(file, 1);
  return text.substr(0, text.find('\n'));
}

/// Returns the state of a process, a letter, and what follows it in /proc/PID/stat; "" if there is no such process. The
/// name of the program stands before it, in parentheses, and may contain any character.
inline std::string state_and_parent(int process) {
  const std::string text = read_kernel_file("/proc/" + std::to_string(process) + "/stat", 1);
  const std::size_t name_ends = text.rfind(')');
  return name_ends == text.npos || name_ends + 2 >= text.size() ? "" : text.substr(name_ends + 2);
}

/// Returns the kernel's number of the namespace in which this process has its number; 0: not known.
inline std::uint64_t process_namespace() {
  struct stat found{};
  return ::stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

}  // namespace swapmeet
