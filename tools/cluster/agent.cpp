/// The program that launchers call instead of ssh: cluster_agent [-OPTION]... HOST COMMAND...
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "cluster/namespaces.hpp"
#include "cluster/problem.hpp"

using namespace swapmeet::cluster;

namespace {

constexpr int failed = 255;  ///< exit status of ssh for its own errors

int run(const char* host, const std::string& command) {
  enter_node(host);
  // Only children of this process are in the node's process namespace.
  const pid_t child = checked(fork(), std::string("start a process on ") + host);
  if (child == 0) {
    use_own_temporary_files();
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int count, char** words) {
  int k = 1;
  while (k < count && words[k][0] == '-') ++k;
  std::string command;
  for (int word = k + 1; word < count; ++word) command += (command.empty() ? "" : " ") + std::string(words[word]);
  if (command.empty()) {
    std::fprintf(stderr, "swapmeet cluster: expected HOST COMMAND\n");
    return failed;
  }
  try {
    return run(words[k], command);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "swapmeet cluster: %s\n", problem.what());
    return failed;
  }
}
