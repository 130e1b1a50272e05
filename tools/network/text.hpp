/// Networks as text: our own form (docs/networks.md), ibnetdiscover's dumps, Slurm's topology.conf.
#pragma once

#include <string>
#include <string_view>

#include "network/network.hpp"
#include "schedule/lines.hpp"

namespace swapmeet {

/// Our text form. Reads back as the same network.
std::string to_text(const Network& network);

/// Whichever of the three it is. Every host can reach every other.
Result<Network> parse_network(std::string_view text);

Result<Network> parse_edges(std::string_view text);
Result<Network> parse_ibnetdiscover(std::string_view text);
Result<Network> parse_slurm(std::string_view text);

/// n[0-3,07] as n0 n1 n2 n3 n07; a problem names the column.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

}  // namespace swapmeet
