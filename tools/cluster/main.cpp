/// The program that runs a command in a virtual cluster: cluster NAME=VALUE... -- COMMAND (settings.hpp). `swapmeet
/// cluster run` executes it. It consists of two processes: one outside, which waits, and the first one inside the
/// namespaces, whose end removes everything.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "cluster/namespaces.hpp"
#include "cluster/problem.hpp"
#include "cluster/switch.hpp"
#include "cluster/tap.hpp"

using namespace swapmeet::cluster;

namespace {

constexpr int failed = 2;
constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (const int signal : ending_signals) sigaddset(&signals, signal);
  return signals;
}

pid_t start_command(const Settings& settings, const sigset_t& before) {
  const pid_t command = checked(fork(), "start the command");
  if (command != 0) return command;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  use_own_temporary_files();
  execvp(settings.command[0], settings.command.data());
  std::fprintf(stderr, "swapmeet cluster: cannot start %s\n", settings.command[0]);
  _exit(127);
}

/// Gives this process priority over the ranks, since a real switch has a processor of its own. Without the privilege,
/// nothing happens.
void come_first() {
  const sched_param priority{1};
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
}

/// Runs as the head. It creates each node's interface in a new network namespace, in which it then starts the node's
/// first process.
int be_head(const Settings& settings, int parent, const sigset_t& before) {
  const int nodes = settings.shape.nodes;
  std::vector<std::string> hosts;
  for (int node = 0; node < nodes; ++node) hosts.push_back(address_of(node) + " " + name_of(node));
  hosts.push_back(address_of(nodes) + " head");
  become_head(hosts);
  const int head = checked(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), "open a network namespace");
  const int tap_of_head = make_tap(nodes, settings.mtu_bytes);
  std::vector<int> taps;
  std::vector<pid_t> processes;
  for (int node = 0; node < nodes; ++node) {
    checked(unshare(CLONE_NEWNET), "make a network namespace");
    taps.push_back(make_tap(node, settings.mtu_bytes));
    processes.push_back(start_node(node, settings.same_hostname ? "node" : name_of(node)));
  }
  checked(setns(head, CLONE_NEWNET), "go back to a network namespace");
  close(head);
  taps.push_back(tap_of_head);
  Switch network(settings, taps, processes, watched_signals(), parent);
  const pid_t command = start_command(settings, before);
  come_first();
  return network.run(command);
}

/// Waits for the head, outside, and forwards signals to it, except those that a terminal sends to all processes.
int attend(pid_t head, const sigset_t& signals) {
  while (true) {
    siginfo_t signal;
    if (sigwaitinfo(&signals, &signal) == SIGCHLD) {
      int status = 0;
      if (waitpid(head, &status, WNOHANG) != head) continue;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (signal.si_code != SI_KERNEL) kill(head, signal.si_signo);
  }
}

int run(const Settings& settings) {
  int alive[2];  // the head notices when this process's end of the pipe is closed
  checked(pipe2(alive, O_CLOEXEC), "make a pipe");
  const sigset_t signals = watched_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t head = fork_head();
  if (head != 0) return attend(head, signals);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close(alive[1]);
  return be_head(settings, alive[0], before);
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(read_settings(count, words));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "swapmeet cluster: %s\n", problem.what());
    return failed;
  }
}
