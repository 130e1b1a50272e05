#include "evidence/signatures.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "schedule/kernel_file.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

std::string mpi_signature(std::string_view library_version) {
  struct Known {
    std::string_view beginning, kind;
  };
  constexpr std::array<Known, 5> known{{{"Open MPI v", "openmpi"},
                                        {"MPICH Version:", "mpich"},
                                        {"Intel(R) MPI Library ", "intel"},
                                        {"MPICH ", "mpich"},
                                        {"SMPI Version ", "simgrid"}}};
  for (const auto& [beginning, kind] : known) {
    if (!library_version.starts_with(beginning)) continue;
    std::string_view version = library_version.substr(beginning.size());
    version.remove_prefix(std::min(version.find_first_not_of(" \t"), version.size()));
    version = version.substr(0, version.find_first_not_of("0123456789."));
    return std::string(kind) + ' ' + std::string(version.substr(0, version.find_last_not_of('.') + 1));
  }
  return "";
}

std::string machine_signature() {
  std::string processor = "unknown processor";
  const std::string information = read_kernel_file("/proc/cpuinfo", 1);  // of the first processor
  if (const std::size_t begin = information.find("model name"); begin != information.npos) {
    const std::string line = information.substr(begin, information.find('\n', begin) - begin);
    const std::size_t text = line.find_first_not_of(" \t", line.find(':') + 1);
    if (text != line.npos) processor = line.substr(text);
  }
  return processor + ", " + std::to_string(sysconf(_SC_NPROCESSORS_CONF)) + " cores";
}

std::string cluster_signature() {
  utsname name{};
  uname(&name);
  return machine_signature() + ", host " + host_class(name.nodename);
}

std::string host_class(std::string_view host) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (host.size() == 12 && host.find_first_not_of("0123456789abcdef") == host.npos) return "container";
  std::string name;
  for (std::size_t i = 0; i < host.size(); ++i)
    if (!digit(host[i])) name += host[i] > ' ' && host[i] <= '~' ? host[i] : '?';
    else if (i == 0 || !digit(host[i - 1])) name += '#';
  return name;
}

std::uint64_t program_number() {
  const std::string words = read_kernel_file("/proc/self/cmdline");
  TextHash hash;
  std::size_t begin = 0;
  for (int word = 0; word < 2 && begin < words.size(); ++word) {
    const std::size_t end = std::min(words.find('\0', begin), words.size());
    const std::string_view path = std::string_view(words).substr(begin, end - begin);
    hash.add(std::string(path.substr(path.rfind('/') + 1)) + '\0');
    begin = end + 1;
  }
  return words.empty() ? 0 : hash.value();
}

}  // namespace swapmeet
