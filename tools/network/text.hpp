/// Text forms of networks: our own (docs/networks.md), dumps of ibnetdiscover, and Slurm's topology.conf.
#pragma once

#include <string>
#include <string_view>

#include "network/network.hpp"
#include "schedule/lines.hpp"

namespace swapmeet {

/// Returns the network in our own text form, which parses to the same network.
std::string to_text(const Network& network);

/// Parses any of the three forms. Every host of the result can reach every other.
Result<Network> parse_network(std::string_view text);

Result<Network> parse_edges(std::string_view text);
Result<Network> parse_ibnetdiscover(std::string_view text);
Result<Network> parse_slurm(std::string_view text);

/// Expands n[0-3,07] to n0 n1 n2 n3 n07. A problem names the column.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

}  // namespace swapmeet
