/// A network as data: hosts, switches, and directed links between them. Integers and names; what routes and load are,
/// others say.
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

/// Hosts come first, then switches, each in the order in which they were named.
using Vertex = std::int32_t;

/// One direction of a cable, or of several cables side by side.
struct Link {
  Vertex from = 0, to = 0;
  std::int32_t capacity = 1;  ///< blocks that it carries in the time in which one rank sends one
  bool operator==(const Link&) const = default;
};

/// A line of a forwarding table: at switch `at`, what goes to `host` leaves by `link`.
struct Route {
  Vertex at = 0, host = 0;
  std::int32_t link = 0;
  bool operator==(const Route&) const = default;
};

inline constexpr std::int32_t most_capacity = 65535;

/// Made by NetworkBuilder; read by all.
struct Network {
  std::vector<std::string> names;  ///< of all vertices, each once
  std::int32_t hosts = 0;
  std::vector<Link> links;                       ///< by from, then to; no two alike
  std::vector<Route> routes;                     ///< given ones, by at, then host
  std::vector<std::int32_t> first_link;          ///< in `links`, of those that leave each vertex, and the end
  std::vector<std::int32_t> first_in, links_in;  ///< numbers of the links into each vertex, likewise
  std::vector<std::int32_t> first_route;  ///< in `routes`, of those at each vertex, and the end; empty: no routes

  std::int32_t vertices() const { return static_cast<std::int32_t>(names.size()); }
  std::int32_t switches() const { return vertices() - hosts; }
  bool is_host(Vertex vertex) const { return vertex < hosts; }
  std::span<const Link> links_of(Vertex vertex) const;
  std::span<const std::int32_t> links_to(Vertex vertex) const;
  /// Number of the link, -1 if there is none. O(log degree).
  std::int32_t find_link(Vertex from, Vertex to) const;
  /// Whether the host has one link each way, of one block at a time.
  bool has_one_link(Vertex host) const;
  /// By which link what is for `host` leaves, if that is given; else -1.
  std::int32_t find_route(Vertex at, Vertex host) const;

  bool operator==(const Network& other) const {
    return names == other.names && hosts == other.hosts && links == other.links && routes == other.routes;
  }
};

/// Collects vertices and links in any order. Its vertices are numbered as they come; finish() numbers them anew.
class NetworkBuilder {
 public:
  /// The vertex of that name, if there is one.
  std::optional<Vertex> find(const std::string& name) const;
  Vertex host(const std::string& name) { return add(name, true); }
  Vertex switch_(const std::string& name) { return add(name, false); }
  bool is_host(Vertex vertex) const { return host_[static_cast<std::size_t>(vertex)]; }
  const std::string& name(Vertex vertex) const { return names_[static_cast<std::size_t>(vertex)]; }

  /// Adds to the capacity of a link if it is there already. False: it was there.
  bool arc(Vertex from, Vertex to, std::int32_t capacity = 1);
  /// Both directions.
  bool link(Vertex a, Vertex b, std::int32_t capacity = 1) {
    const bool there = arc(a, b, capacity), back = arc(b, a, capacity);
    return there && back;
  }
  bool has_arc(Vertex from, Vertex to) const { return capacity_.contains(key(from, to)); }
  /// `next` must be a neighbour of `at`.
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
  std::vector<Route> routes_;  ///< `link` holds the next vertex until the end
};

/// Hops (links) from every vertex to `to`, host links included; hosts pass nothing on. -1: no way.
std::vector<std::int32_t> hops_to(const Network& network, Vertex to);

/// Two hosts, the first of which cannot reach the second; nothing if all reach all.
std::optional<std::pair<Vertex, Vertex>> unreachable(const Network& network);

/// The most links between two switches that have hosts; between the switches themselves.
std::int32_t diameter(const Network& network);

}  // namespace swapmeet
