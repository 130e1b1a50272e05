/// The switch of a virtual cluster. It forwards frames between the interfaces, at the times of a Network. It is also
/// the first process of the head, which starts the command and the faults, and ends all other processes.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <vector>

#include "cluster/network.hpp"
#include "cluster/settings.hpp"

namespace swapmeet::cluster {

class Switch {
 public:
  /// `taps`: the file of each port; `nodes`: the first process of each node; `signals`: the blocked signals to handle;
  /// `parent`: a pipe that breaks when the parent process has ended.
  Switch(const Settings& settings, std::vector<int> taps, std::vector<pid_t> nodes, const sigset_t& signals,
         int parent);

  /// Runs until the command has ended or is terminated. Returns its exit status.
  int run(pid_t command);

 private:
  void watch(int file);
  void wait();
  void read_frames(int port);
  void enter(int port, std::vector<unsigned char> data, Time now);
  void deliver();
  void heed_signals();
  void heed(const signalfd_siginfo& signal);
  void reap();
  void plan_faults();
  void stall(pid_t process, Time until);
  void at(Time after_ns, std::function<void()> what) { agenda_.emplace(begin_ + after_ns, std::move(what)); }
  void end_command(const char* why);

  Settings settings_;
  Network network_;
  std::vector<int> taps_;
  std::vector<pid_t> nodes_;
  int signals_, parent_, timer_, events_;
  Time begin_;
  std::multimap<Time, std::function<void()>> agenda_;  ///< actions by time
  pid_t command_ = 0;
  int status_ = 0;
  bool ended_ = false, ending_ = false;
};

}  // namespace swapmeet::cluster
