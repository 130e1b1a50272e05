#include "cluster/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace swapmeet::cluster {

Network::Network(const Shape& shape) : shape_(shape) {
  for (int port = 0; port < ports(); ++port) {
    const std::string name = port == head() ? "head" : "node" + std::to_string(port);
    const Time latency_ns = port == head() ? 0 : shape.latency_ns;
    up_.push_back(add(name + " up", shape.rate, latency_ns / 2));
    down_.push_back(add(name + " down", shape.rate, latency_ns - latency_ns / 2));
  }
  if (shape.nodes_per_switch == 0) return;
  for (int first = 0; first < shape.nodes; first += shape.nodes_per_switch) {
    const std::string name = "switch" + std::to_string(core_up_.size());
    core_up_.push_back(add(name + " up", shape.core_rate, shape.core_latency_ns / 2));
    core_down_.push_back(add(name + " down", shape.core_rate, shape.core_latency_ns - shape.core_latency_ns / 2));
  }
}

int Network::add(std::string name, double rate, Time latency_ns) {
  links_.push_back({std::move(name), rate, latency_ns});
  return static_cast<int>(links_.size()) - 1;
}

/// Returns the links from one port to another, the last one first. The head is connected to the core, if there is one.
std::vector<int> Network::path(int from, int to) const {
  const int per_switch = shape_.nodes_per_switch;
  if (per_switch == 0 || (from != head() && to != head() && from / per_switch == to / per_switch))
    return {down_[to], up_[from]};
  std::vector<int> links{down_[to]};
  if (to != head()) links.push_back(core_down_[to / per_switch]);
  if (from != head()) links.push_back(core_up_[from / per_switch]);
  links.push_back(up_[from]);
  return links;
}

void Network::enter(int from, Frame frame, Time now) {
  traffic_ += frame.data.size();
  std::vector<int> links = path(from, frame.to);
  std::size_t travel = travels_.size();
  if (unused_.empty()) {
    travels_.emplace_back();
  } else {
    travel = unused_.back();
    unused_.pop_back();
  }
  const auto at = static_cast<double>(now);
  travels_[travel] = {std::move(frame), std::move(links), at};
  cross(travel, at);
}

/// Handles the arrival of a frame's head at its next link.
void Network::cross(std::size_t travel, double at) {
  Travel& it = travels_[travel];
  Link& link = links_[static_cast<std::size_t>(it.links.back())];
  it.links.pop_back();
  const std::size_t bytes = it.frame.data.size();
  const double begin = std::max(at, link.free_at);
  const auto queued = static_cast<std::size_t>((begin - at) * link.rate / link.slowness / 1e9);
  if (link.cut || queued + bytes > shape_.queue_bytes) {
    ++link.counts.dropped;
    return end(travel);
  }
  link.counts.most_queued = std::max(link.counts.most_queued, queued);
  link.counts.bytes += bytes;
  ++link.counts.frames;
  link.free_at = begin + link.takes(bytes);
  const auto latency = static_cast<double>(link.latency_ns);
  it.tail = std::max(link.free_at, it.tail) + latency;
  schedule(it.links.empty() ? it.tail : begin + latency, travel);
}

void Network::end(std::size_t travel) {
  travels_[travel] = {};
  unused_.push_back(travel);
}

std::optional<Time> Network::next() const {
  if (events_.empty()) return std::nullopt;
  return static_cast<Time>(std::ceil(events_.top().at));
}

std::optional<Frame> Network::pop(Time now) {
  while (!events_.empty() && events_.top().at <= static_cast<double>(now)) {
    const Event event = events_.top();
    events_.pop();
    if (!travels_[event.travel].links.empty()) {
      cross(event.travel, event.at);
      continue;
    }
    Frame frame = std::move(travels_[event.travel].frame);
    end(event.travel);
    return frame;
  }
  return std::nullopt;
}

void Network::slow(int node, double factor) { links_[up_[node]].slowness = links_[down_[node]].slowness = factor; }

void Network::cut(int node, bool is_cut) { links_[up_[node]].cut = links_[down_[node]].cut = is_cut; }

std::string Network::report() const {
  std::string text = "link            frames          bytes  dropped  most queued\n";
  for (const Link& link : links_) {
    char line[128];
    std::snprintf(line, sizeof line, "%-12s %9llu %14llu %8llu %12zu\n", link.name.c_str(),
                  static_cast<unsigned long long>(link.counts.frames),
                  static_cast<unsigned long long>(link.counts.bytes),
                  static_cast<unsigned long long>(link.counts.dropped), link.counts.most_queued);
    text += line;
  }
  return text;
}

}  // namespace swapmeet::cluster
