/// A network as data: hosts, switches, and the directed links between them. Routes and loads are computed elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/result.hpp"

namespace swapmeet {

/// The number of a host or switch. Hosts come first, then switches, each in the order in which they were named.
using Vertex = std::int32_t;

/// A directed link: one direction of a cable, or of several parallel cables.
struct Link {
  Vertex from = 0, to = 0;
  std::int32_t capacity = 1;  ///< blocks that it carries in the time in which a rank sends one
  bool operator==(const Link&) const = default;
};

/// An entry of a forwarding table: at switch `at`, messages to `host` leave by `link`.
struct Route {
  Vertex at = 0, host = 0;
  std::int32_t link = 0;
  bool operator==(const Route&) const = default;
};

inline constexpr std::int32_t most_capacity = 65535;

/// A network, which NetworkBuilder makes and which is not changed after that.
struct Network {
  std::vector<std::string> names;  ///< of all vertices; unique
  std::int32_t hosts = 0;
  std::vector<Link> links;               ///< sorted by from, then to; unique
  std::vector<Route> routes;             ///< given routes, sorted by at, then host
  std::vector<std::int32_t> first_link;  ///< for each vertex: first of its outgoing links in `links`; then the end
  std::vector<std::int32_t> first_in, links_in;  ///< the same for incoming links, whose numbers are in links_in
  /// for each vertex: its first route in `routes`; then the end; empty: no routes
  std::vector<std::int32_t> first_route;

  std::int32_t vertices() const { return static_cast<std::int32_t>(names.size()); }
  std::int32_t switches() const { return vertices() - hosts; }
  bool is_host(Vertex vertex) const { return vertex < hosts; }
  std::span<const Link> links_of(Vertex vertex) const;
  std::span<const std::int32_t> links_to(Vertex vertex) const;
  /// Returns the number of the link, or -1 if there is none. O(log degree).
  std::int32_t find_link(Vertex from, Vertex to) const;
  /// Whether the host has one link of capacity 1 in each direction.
  bool has_one_link(Vertex host) const;
  /// Returns the given route's link for messages to `host`, or -1 if no route is given.
  std::int32_t find_route(Vertex at, Vertex host) const;

  bool operator==(const Network& other) const {
    return names == other.names && hosts == other.hosts && links == other.links && routes == other.routes;
  }
};

/// A builder that collects vertices and links in any order. It numbers vertices as they are added; finish() renumbers
/// them.
class NetworkBuilder {
 public:
  /// Returns the vertex of that name; nullopt if there is none.
  std::optional<Vertex> find(const std::string& name) const;
  Vertex host(const std::string& name) { return add(name, true); }
  Vertex switch_(const std::string& name) { return add(name, false); }
  bool is_host(Vertex vertex) const { return host_[static_cast<std::size_t>(vertex)]; }
  const std::string& name(Vertex vertex) const { return names_[static_cast<std::size_t>(vertex)]; }

  /// Adds a directed link, or adds to the capacity of an existing one. Returns false if it existed.
  bool arc(Vertex from, Vertex to, std::int32_t capacity = 1);
  /// Adds links in both directions.
  bool link(Vertex a, Vertex b, std::int32_t capacity = 1) {
    const bool there = arc(a, b, capacity), back = arc(b, a, capacity);
    return there && back;
  }
  bool has_arc(Vertex from, Vertex to) const { return capacity_.contains(key(from, to)); }
  /// Adds a route. `next` must be adjacent to `at`.
  void route(Vertex at, Vertex host, Vertex next) { routes_.push_back({at, host, next}); }

  Network finish() &&;

 private:
  Vertex add(const std::string& name, bool host);
  static std::uint64_t key(Vertex from, Vertex to) {
    return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  }

  std::vector<std::string> names_;
  std::vector<bool> host_;
  std::unordered_map<std::string, Vertex> number_;
  std::unordered_map<std::uint64_t, std::int32_t> capacity_;
  std::vector<Route> routes_;  ///< until finish(), `link` holds the next vertex
};

/// Returns the number of links from every vertex to `to`, host links included; hosts forward nothing. -1: unreachable.
std::vector<std::int32_t> hops_to(const Network& network, Vertex to);

/// Returns two hosts, the first of which cannot reach the second; nullopt if every host reaches every other.
std::optional<std::pair<Vertex, Vertex>> unreachable(const Network& network);

/// Returns the largest distance between two switches with hosts, in links between switches.
std::int32_t diameter(const Network& network);

}  // namespace swapmeet
