#include "cluster/switch.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <utility>

#include "cluster/namespaces.hpp"
#include "cluster/problem.hpp"
#include "cluster/tap.hpp"

namespace swapmeet::cluster {

namespace {

constexpr Time second = 1'000'000'000;
constexpr Time grace_ns = 5 * second;   ///< time for a launcher to end its ranks
constexpr Time worth_sleeping = 3'000;  ///< in ns; the kernel takes about as long to wake a process
constexpr Time stall_ns = second / 100;
constexpr int frames_at_once = 64;  ///< frames read from one port before the next port's turn
constexpr int timed_out = 124, interrupted = 130;

Time now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * second + time.tv_nsec;
}

}  // namespace

Switch::Switch(const Settings& settings, std::vector<int> taps, std::vector<pid_t> nodes, const sigset_t& signals,
               int parent)
    : settings_(settings), network_(settings.shape), taps_(std::move(taps)), nodes_(std::move(nodes)),
      signals_(checked(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC), "watch signals")), parent_(parent),
      timer_(checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "make a timer")),
      events_(checked(epoll_create1(EPOLL_CLOEXEC), "watch files")), begin_(now()) {
  for (const int file : taps_) watch(file);
  for (const int file : {signals_, parent_, timer_}) watch(file);
}

void Switch::watch(int file) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = file;
  checked(epoll_ctl(events_, EPOLL_CTL_ADD, file, &event), "watch a file");
}

int Switch::run(pid_t command) {
  command_ = command;
  plan_faults();
  at(settings_.limit_ns, [this] {
    status_ = timed_out;
    end_command("the time limit (--time-limit) is reached");
  });
  while (!ended_) {
    wait();
    deliver();
    while (!agenda_.empty() && agenda_.begin()->first <= now()) {
      const auto what = std::move(agenda_.begin()->second);
      agenda_.erase(agenda_.begin());
      what();
    }
    if (network_.traffic() > settings_.limit_bytes && !ending_) {
      status_ = timed_out;
      end_command("the limit of traffic (--traffic) is reached");
    }
  }
  if (settings_.report) std::fputs(network_.report().c_str(), stderr);
  return status_;
}

/// Sleeps until a frame arrives, a frame is due, or an action is due.
void Switch::wait() {
  Time until = agenda_.empty() ? now() + second : agenda_.begin()->first;
  if (const auto next = network_.next()) until = std::min(until, *next);
  const bool sleeps = until - now() > worth_sleeping;
  if (sleeps) {
    const itimerspec time{{0, 0}, {until / second, until % second}};
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &time, nullptr);
  }
  epoll_event ready[64];
  const int count = epoll_wait(events_, ready, 64, sleeps ? -1 : 0);
  for (int k = 0; k < count; ++k) {
    const int file = ready[k].data.fd;
    const auto tap = std::find(taps_.begin(), taps_.end(), file);
    if (tap != taps_.end()) {
      read_frames(static_cast<int>(tap - taps_.begin()));
    } else if (file == signals_) {
      heed_signals();
    } else if (file == parent_) {
      ended_ = true;  // all other processes end with this one
    } else {
      std::uint64_t expired;
      (void)!read(timer_, &expired, sizeof expired);
    }
  }
}

void Switch::read_frames(int port) {
  unsigned char data[1 << 16];
  for (int k = 0; k < frames_at_once; ++k) {
    const ssize_t bytes = read(taps_[static_cast<std::size_t>(port)], data, sizeof data);
    if (bytes < ethernet_header_bytes) return;
    enter(port, {data, data + bytes}, now());
  }
}

void Switch::enter(int port, std::vector<unsigned char> data, Time now) {
  const int to = port_of(data.data(), network_.ports());
  if (to >= 0) network_.enter(port, {to, std::move(data)}, now);
  for (int other = 0; to == -1 && other < network_.ports(); ++other)
    if (other != port) network_.enter(port, {other, data}, now);
}

void Switch::deliver() {
  while (const auto frame = network_.pop(now()))
    (void)!write(taps_[static_cast<std::size_t>(frame->to)], frame->data.data(), frame->data.size());
}

void Switch::heed_signals() {
  signalfd_siginfo signal;
  while (read(signals_, &signal, sizeof signal) == sizeof signal) heed(signal);
}

void Switch::heed(const signalfd_siginfo& signal) {
  if (signal.ssi_signo == SIGCHLD) return reap();
  const bool by_terminal = signal.ssi_code == SI_KERNEL;  // then the command has received it, too
  if (!by_terminal && !ended_) kill(command_, static_cast<int>(signal.ssi_signo));
  if (std::exchange(ending_, true)) return;
  at(now() - begin_ + grace_ns, [this] {
    status_ = interrupted;
    ended_ = true;
  });
}

/// Reaps terminated children. Orphaned processes of the namespace are children of this process.
void Switch::reap() {
  int status = 0;
  for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (child != command_) continue;
    ended_ = true;
    if (status_ == 0) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

void Switch::end_command(const char* why) {
  std::fprintf(stderr, "swapmeet cluster: %s\n", why);
  if (!ended_) kill(command_, SIGTERM);
  ending_ = true;
  at(now() - begin_ + grace_ns, [this] { ended_ = true; });
}

/// Stops the processes of a node until the given time, repeatedly, since new processes may start meanwhile.
void Switch::stall(pid_t process, Time until) {
  const Time again = now() - begin_ + stall_ns;
  kill(process, again < until ? stop_signal : continue_signal);
  if (again < until) at(again, [=, this] { stall(process, until); });
}

void Switch::plan_faults() {
  for (const Fault& fault : settings_.faults) {
    const pid_t process = nodes_[static_cast<std::size_t>(fault.node)];
    std::function<void()> begin, end;
    switch (fault.kind) {
      case Fault::Kind::slow:
        begin = [this, fault] { network_.slow(fault.node, fault.factor); };
        end = [this, fault] { network_.slow(fault.node, 1); };
        break;
      case Fault::Kind::cut:
        begin = [this, fault] { network_.cut(fault.node, true); };
        end = [this, fault] { network_.cut(fault.node, false); };
        break;
      case Fault::Kind::stall: begin = [this, process, fault] { stall(process, fault.after_ns + fault.for_ns); }; break;
      case Fault::Kind::die: begin = [process] { kill(process, SIGKILL); }; break;
    }
    at(fault.after_ns, begin);
    if (fault.for_ns > 0 && end) at(fault.after_ns + fault.for_ns, end);
  }
}

}  // namespace swapmeet::cluster
