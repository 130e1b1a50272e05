#include "cluster/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>

#include "cluster/problem.hpp"

namespace swapmeet::cluster {

const int stop_signal = SIGUSR1, continue_signal = SIGUSR2;

namespace {

constexpr int of_a_node = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;
constexpr int of_the_head = of_a_node | CLONE_NEWNET;
/// folder of the head with a file for each node, which has the number of its first process
const std::string table = "/dev/shm/swapmeet/";

/// Forks into new namespaces.
pid_t fork_into(int flags) {
  return static_cast<pid_t>(syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0));
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw Problem("cannot write " + path + ": " + std::strerror(errno));
}

/// Mounts the file systems that show a host its own processes, shared memory and interfaces.
void mount_own() {
  checked(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr), "mount /proc in a namespace");
  checked(mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"), "mount /dev/shm in a namespace");
  // /sys is rarely used, and some kernels refuse it.
  (void)mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, nullptr);
}

void set_hostname(const std::string& name) { checked(sethostname(name.data(), name.size()), "set a host name"); }

/// Runs the first process of a node: it reaps terminated processes, and stops or continues all others.
[[noreturn]] void serve(const sigset_t& signals) {
  while (true) {
    const int signal = sigwaitinfo(&signals, nullptr);
    if (signal == SIGCHLD) {
      while (waitpid(-1, nullptr, WNOHANG) > 0) {}
    } else if (signal == stop_signal) {
      kill(-1, SIGSTOP);
    } else if (signal == continue_signal) {
      kill(-1, SIGCONT);
    }
  }
}

[[noreturn]] void be_node(const std::string& hostname, int ready) {
  try {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGCHLD, stop_signal, continue_signal}) sigaddset(&signals, signal);
    sigprocmask(SIG_SETMASK, &signals, nullptr);
    mount_own();
    set_hostname(hostname);
    (void)!write(ready, "", 1);
    (void)syscall(SYS_close_range, 3U, ~0U, 0U);
    serve(signals);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "swapmeet cluster: %s: %s\n", hostname.c_str(), problem.what());
  }
  _exit(1);
}

}  // namespace

void use_own_temporary_files() { setenv("TMPDIR", "/dev/shm", 1); }

std::string name_of(int node) { return "node" + std::to_string(node); }

pid_t fork_head() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  pid_t child = user == 0 ? fork_into(of_the_head) : -1;
  if (child >= 0) return child;
  child = fork_into(of_the_head | CLONE_NEWUSER);
  if (child == 0) {
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
    write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
  }
  return checked(
      child,
      "make namespaces: be root, or let users have them (kernel.unprivileged_userns_clone, user.max_user_namespaces)");
}

void become_head(const std::vector<std::string>& hosts) {
  checked(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "have separate mounts");
  mount_own();
  set_hostname("head");
  checked(mkdir(table.c_str(), 0755), "make " + table);
  std::string text = "127.0.0.1 localhost\n";
  for (const std::string& host : hosts) text += host + "\n";
  write_file(table + "hosts", text);
  checked(mount((table + "hosts").c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr),
          "replace /etc/hosts in a namespace");
}

pid_t start_node(int node, const std::string& hostname) {
  int ready[2];
  checked(pipe2(ready, O_CLOEXEC), "make a pipe");
  const pid_t process = checked(fork_into(of_a_node), "make namespaces for a node");
  if (process == 0) be_node(hostname, ready[1]);
  close(ready[1]);
  char byte;
  const bool is_ready = read(ready[0], &byte, 1) == 1;
  close(ready[0]);
  if (!is_ready) throw Problem(name_of(node) + " did not start");
  write_file(table + name_of(node), std::to_string(process));
  return process;
}

void enter_node(const std::string& name) {
  std::ifstream file(table + name);
  pid_t process = 0;
  if (name.find('/') != std::string::npos || !(file >> process)) throw Problem("there is no " + name + " here");
  char folder[PATH_MAX];
  const bool has_folder = getcwd(folder, sizeof folder) != nullptr;
  const int target = checked(syscall(SYS_pidfd_open, process, 0), "reach " + name);
  checked(setns(target, of_the_head), "enter " + name);
  close(target);
  if (has_folder) (void)!chdir(folder);
}

}  // namespace swapmeet::cluster
