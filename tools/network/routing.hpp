/// Static routing: which links a message takes from host to host.
#pragma once

#include <vector>

#include "network/network.hpp"

namespace swapmeet {

/// Which of several neighbours that are one hop nearer to the destination is next.
enum class Spread : std::uint8_t {
  first,        ///< the first one, in the order of the network: all else is idle
  destination,  ///< by the digits of the destination's number, as fat trees are routed (D-mod-k)
  hash,         ///< by a hash of source, destination and switch (ECMP)
};

/// Given routes come first; where there are none, paths are minimal. A link of capacity c counts as c neighbours.
class Routing {
 public:
  /// `network` must outlive it. A problem if a host cannot be reached, or given routes go round in circles. `used`: the
  /// hosts that paths will be asked for, in any order; nullptr: all.
  static Result<Routing> make(const Network& network, Spread spread, std::uint64_t seed = 0,
                              const std::vector<Vertex>* used = nullptr);

  const Network& network() const { return *network_; }
  Spread spread() const { return spread_; }
  std::uint64_t seed() const { return seed_; }

  /// Appends the numbers of the links from one host to another, to be told apart from `from` itself.
  void path(Vertex from, Vertex to, std::vector<std::int32_t>& links) const;

 private:
  /// The link to take at `at`; `digits` is what is left of the destination's number. -1: none.
  std::int32_t next(Vertex at, Vertex from, Vertex to, std::uint32_t& digits) const;

  const Network* network_ = nullptr;
  Spread spread_ = Spread::first;
  std::uint64_t seed_ = 0;
  std::vector<std::int32_t> table_of_;  ///< for each host, its row of hops: hosts of one switch share it
  std::vector<bool> shared_;            ///< for each host: the row is that of its switch
  std::vector<std::vector<std::int16_t>> hops_;
};

}  // namespace swapmeet
