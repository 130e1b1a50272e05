#include "cluster/settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "cluster/problem.hpp"
#include "cluster/tap.hpp"

namespace swapmeet::cluster {

namespace {

/// Parses KIND,NODE,AFTER_NS,FOR_NS,FACTOR.
Fault read_fault(const std::string& text) {
  static const std::map<std::string, Fault::Kind> kinds{
      {"slow", Fault::Kind::slow}, {"cut", Fault::Kind::cut}, {"stall", Fault::Kind::stall}, {"die", Fault::Kind::die}};
  char kind[16];
  long long after = 0, during = 0;
  Fault fault;
  const int read =
      std::sscanf(text.c_str(), "%15[a-z],%d,%lld,%lld,%lf", kind, &fault.node, &after, &during, &fault.factor);
  if (read != 5 || !kinds.contains(kind)) throw Problem("fault=" + text + " is none");
  fault.kind = kinds.at(kind);
  fault.after_ns = after;
  fault.for_ns = during;
  return fault;
}

void require(bool right, const char* what) {
  if (!right) throw Problem(std::string("expected ") + what);
}

}  // namespace

Settings read_settings(int count, char** words) {
  Settings settings;
  Shape& shape = settings.shape;
  const std::map<std::string, std::function<void(const char*)>> known{
      {"nodes", [&](const char* text) { shape.nodes = std::atoi(text); }},
      {"latency", [&](const char* text) { shape.latency_ns = std::atoll(text); }},
      {"rate", [&](const char* text) { shape.rate = std::atof(text); }},
      {"queue", [&](const char* text) { shape.queue_bytes = std::strtoull(text, nullptr, 10); }},
      {"per_switch", [&](const char* text) { shape.nodes_per_switch = std::atoi(text); }},
      {"core_rate", [&](const char* text) { shape.core_rate = std::atof(text); }},
      {"core_latency", [&](const char* text) { shape.core_latency_ns = std::atoll(text); }},
      {"mtu", [&](const char* text) { settings.mtu_bytes = std::atoi(text); }},
      {"limit", [&](const char* text) { settings.limit_ns = std::atoll(text); }},
      {"traffic", [&](const char* text) { settings.limit_bytes = std::strtoull(text, nullptr, 10); }},
      {"same_hostname", [&](const char* text) { settings.same_hostname = *text == '1'; }},
      {"report", [&](const char* text) { settings.report = *text == '1'; }},
      {"fault", [&](const char* text) { settings.faults.push_back(read_fault(text)); }},
  };
  int k = 1;
  for (; k < count && std::string(words[k]) != "--"; ++k) {
    const std::string word = words[k], name = word.substr(0, word.find('='));
    const auto found = known.find(name);
    if (found == known.end() || name == word) throw Problem("what is " + word + "?");
    found->second(words[k] + name.size() + 1);
  }
  settings.command.assign(words + (k < count ? k + 1 : k), words + count);
  settings.command.push_back(nullptr);
  require(settings.command.size() > 1, "-- and a command");
  require(shape.nodes >= 1 && shape.nodes < most_ports, "1 to 199 nodes");
  require(shape.rate > 0 && shape.core_rate > 0, "rates above 0");
  require(shape.latency_ns >= 0 && shape.core_latency_ns >= 0, "no latency below 0");
  require(settings.limit_ns > 0 && settings.limit_bytes > 0, "limits");
  for (const Fault& fault : settings.faults)
    require(fault.node >= 0 && fault.node < shape.nodes, "faults of nodes that there are");
  return settings;
}

}  // namespace swapmeet::cluster
