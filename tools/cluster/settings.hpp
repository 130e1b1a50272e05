/// The arguments that `swapmeet cluster run` passes to this program: words NAME=VALUE, then -- and the command. Users
/// write the options of python/swapmeet instead, which are checked there.
#pragma once

#include <string>
#include <vector>

#include "cluster/network.hpp"

namespace swapmeet::cluster {

/// A fault of a node, from `after_ns` on for the duration `for_ns`; 0: permanent.
struct Fault {
  enum class Kind { slow, cut, stall, die } kind = Kind::slow;
  int node = 0;
  Time after_ns = 0, for_ns = 0;
  double factor = 1;  ///< for Kind::slow
};

struct Settings {
  Shape shape;
  int mtu_bytes = 9000;
  Time limit_ns = 0;
  std::uint64_t limit_bytes = 0;
  bool same_hostname = false;
  bool report = false;
  std::vector<Fault> faults;
  std::vector<char*> command;  ///< ends with a null pointer
};

Settings read_settings(int count, char** words);

}  // namespace swapmeet::cluster
