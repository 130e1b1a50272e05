/// Static routing: the links that a message takes from host to host.
#pragma once

#include <vector>

#include "network/network.hpp"

namespace swapmeet {

/// The choice of the next vertex among several that are one hop nearer to the destination.
enum class Spread : std::uint8_t {
  first,        ///< the first one, in the order of the network; the others stay idle
  destination,  ///< by the digits of the destination's number, as fat trees are routed (D-mod-k)
  hash,         ///< by a hash of source, destination and switch (ECMP)
};

/// A routing. Given routes take precedence; otherwise paths are minimal. A link of capacity c counts as c links.
class Routing {
 public:
  /// Returns the routing. `network` must outlive it. A problem if a host cannot be reached, or if given routes form a
  /// cycle. `used`: the hosts between which paths will be requested, in any order; nullptr: all.
  static Result<Routing> make(const Network& network, Spread spread, std::uint64_t seed = 0,
                              const std::vector<Vertex>* used = nullptr);

  const Network& network() const { return *network_; }
  Spread spread() const { return spread_; }
  std::uint64_t seed() const { return seed_; }

  /// Appends the numbers of the links from one host to another. Appends nothing if both are the same.
  void path(Vertex from, Vertex to, std::vector<std::int32_t>& links) const;

 private:
  /// Returns the link to take at `at`; -1: none. `digits` is the rest of the destination's number, for
  /// Spread::destination.
  std::int32_t next(Vertex at, Vertex from, Vertex to, std::uint32_t& digits) const;

  const Network* network_ = nullptr;
  Spread spread_ = Spread::first;
  std::uint64_t seed_ = 0;
  std::vector<std::int32_t> table_of_;  ///< for each host: its row of hops_; hosts of one switch share a row
  std::vector<bool> shared_;            ///< for each host: whether the row is that of its switch
  std::vector<std::vector<std::int16_t>> hops_;
};

}  // namespace swapmeet
