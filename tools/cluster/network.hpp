/// The links of a cluster and the frames on them: everything about time, nothing about devices. Times are given, never
/// asked for, so that tests need no clock.
///
/// A frame crosses a list of links: up from its node, perhaps to the core and down from it, down to the other node. On
/// each it waits for those before it, then takes bytes / rate. Links cut through: a frame enters the next link when its
/// head arrives, and is delivered when its tail does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace swapmeet::cluster {

using Time = std::int64_t;  ///< in nanoseconds

/// What is set.
struct Shape {
  int nodes = 1;                       ///< the ports; that of the head, which the launcher has, comes after them
  Time latency_ns = 0;                 ///< between two nodes, one way
  double rate = 125e6;                 ///< of each node, in bytes per second and direction
  std::size_t queue_bytes = 16 << 20;  ///< that may wait for a link; what comes then is dropped
  int nodes_per_switch = 0;            ///< 0: there is one switch
  double core_rate = 125e6;            ///< between a switch and the core
  Time core_latency_ns = 0;            ///< between two switches, one way, in addition
};

struct Counts {
  std::uint64_t frames = 0, bytes = 0, dropped = 0;
  std::size_t most_queued = 0;  ///< bytes that waited at a time
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

  /// A frame leaves port `from`.
  void enter(int from, Frame frame, Time now);

  /// When pop() has something to do next.
  std::optional<Time> next() const;

  /// The next frame that has reached its port by `now`.
  std::optional<Frame> pop(Time now);

  /// The links of a node become slower by this factor; 1: as they were.
  void slow(int node, double factor);

  /// The links of a node lose everything, or no longer do.
  void cut(int node, bool is_cut);

  /// Bytes that have entered.
  std::uint64_t traffic() const { return traffic_; }

  /// A line for each link: what went over it.
  std::string report() const;

 private:
  struct Link {
    std::string name;
    double rate;  ///< bytes per second
    Time latency_ns;
    double slowness = 1;
    bool cut = false;
    double free_at = 0;  ///< in ns; a fraction counts where many small frames follow one another
    Counts counts = {};

    double takes(std::size_t bytes) const { return static_cast<double>(bytes) * 1e9 / rate * slowness; }
  };

  struct Travel {
    Frame frame;
    std::vector<int> links;  ///< left to cross, the last one first
    double tail;             ///< when the end of the frame is where its head is
  };

  struct Event {
    double at;
    std::uint64_t number;  ///< what happens at one time happens in order
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
  std::vector<int> up_, down_, core_up_, core_down_;  ///< numbers of links, by port or by switch
  std::vector<Travel> travels_;
  std::vector<std::size_t> unused_;  ///< of travels_
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t number_ = 0, traffic_ = 0;
};

}  // namespace swapmeet::cluster
