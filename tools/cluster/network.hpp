/// The model of the links of a virtual cluster and of the frames on them. It computes times and knows no devices. The
/// current time is always an argument, so that tests need no clock.
///
/// A frame crosses a list of links: up from its node, possibly to the core and down from it, and down to the other
/// node. On each link it waits for earlier frames and then takes bytes / rate. Links cut through: a frame enters the
/// next link when its head arrives, and is delivered when its tail arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace swapmeet::cluster {

using Time = std::int64_t;  ///< in nanoseconds

/// The parameters of the network.
struct Shape {
  int nodes = 1;  ///< number of nodes and of their ports; the port of the head, where the launcher runs, follows them
  Time latency_ns = 0;                 ///< between two nodes, one way
  double rate = 125e6;                 ///< of each node, in bytes per second and direction
  std::size_t queue_bytes = 16 << 20;  ///< limit on bytes that wait for a link; further frames are dropped
  int nodes_per_switch = 0;            ///< 0: a single switch
  double core_rate = 125e6;            ///< between a switch and the core, in bytes per second
  Time core_latency_ns = 0;            ///< additional latency between two switches, one way
};

struct Counts {
  std::uint64_t frames = 0, bytes = 0, dropped = 0;
  std::size_t most_queued = 0;  ///< maximum of the bytes that waited at a time
};

struct Frame {
  int to = 0;  ///< port
  std::vector<unsigned char> data;
};

class Network {
 public:
  explicit Network(const Shape& shape);

  int ports() const { return shape_.nodes + 1; }
  int head() const { return shape_.nodes; }

  /// Lets a frame leave port `from`.
  void enter(int from, Frame frame, Time now);

  /// Returns the time at which pop() has something to do next.
  std::optional<Time> next() const;

  /// Returns the next frame that has reached its port by `now`.
  std::optional<Frame> pop(Time now);

  /// Slows the links of a node by this factor; 1: normal speed.
  void slow(int node, double factor);

  /// Lets the links of a node drop all frames, or no longer.
  void cut(int node, bool is_cut);

  /// Returns the number of bytes that have entered.
  std::uint64_t traffic() const { return traffic_; }

  /// Returns a table with the counts of each link.
  std::string report() const;

 private:
  struct Link {
    std::string name;
    double rate;  ///< bytes per second
    Time latency_ns;
    double slowness = 1;
    bool cut = false;
    double free_at = 0;  ///< in ns; a double, since fractions add up over many small frames
    Counts counts = {};

    double takes(std::size_t bytes) const { return static_cast<double>(bytes) * 1e9 / rate * slowness; }
  };

  struct Travel {
    Frame frame;
    std::vector<int> links;  ///< links still to cross, the last one first
    double tail;             ///< time at which the end of the frame reaches the position of its head
  };

  struct Event {
    double at;
    std::uint64_t number;  ///< orders events of the same time
    std::size_t travel;
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : number > other.number; }
  };

  int add(std::string name, double rate, Time latency_ns);
  std::vector<int> path(int from, int to) const;
  void cross(std::size_t travel, double at);
  void end(std::size_t travel);
  void schedule(double at, std::size_t travel) { events_.push({at, number_++, travel}); }

  Shape shape_;
  std::vector<Link> links_;
  std::vector<int> up_, down_, core_up_, core_down_;  ///< indices of links, by port or by switch
  std::vector<Travel> travels_;
  std::vector<std::size_t> unused_;  ///< free entries of travels_
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t number_ = 0, traffic_ = 0;
};

}  // namespace swapmeet::cluster
