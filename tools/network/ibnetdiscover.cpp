/// The parser of dumps of `ibnetdiscover` (OpenIB infiniband-diags), which describe an InfiniBand fabric. Parallel or
/// faster cables form one link of larger capacity; the unit is the slowest cable of a host. Forwarding tables may
/// precede or follow.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "network/forwarding.hpp"
#include "network/text.hpp"

namespace swapmeet {

namespace {

/// Rates of one lane in Gb/s; a cable "4xHDR" has four lanes.
constexpr std::array<std::pair<std::string_view, double>, 9> lane_rates{{{"SDR", 2.5},
                                                                         {"DDR", 5},
                                                                         {"QDR", 10},
                                                                         {"FDR10", 10.3125},
                                                                         {"FDR", 14.0625},
                                                                         {"EDR", 25},
                                                                         {"HDR", 50},
                                                                         {"NDR", 100},
                                                                         {"XDR", 200}}};

double rate_of(std::string_view word) {
  int lanes = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), lanes);
  if (error != std::errc() || end == word.data() + word.size() || *end != 'x') return 0;
  const std::string_view lane = word.substr(static_cast<std::size_t>(end - word.data()) + 1);
  for (const auto& [name, rate] : lane_rates)
    if (lane == name) return lanes * rate;
  return 0;
}

struct Cable {
  std::string from, to;
  double rate = 0;
  int line = 0;
};

/// Returns the text between the next quotes from `at` on, and moves `at` behind them.
std::optional<std::string> quoted(std::string_view line, std::size_t& at) {
  const std::size_t open = line.find('"', at);
  const std::size_t close = open == std::string_view::npos ? open : line.find('"', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  at = close + 1;
  return std::string(line.substr(open + 1, close - open - 1));
}

constexpr std::string_view blanks = " \t\r";

/// Returns a name without characters that our own text form does not permit.
std::string as_word(std::string name) {
  for (char& letter : name)
    if (letter == '#' || blanks.find(letter) != blanks.npos) letter = '_';
  return name;
}

struct Node {
  std::string name;
  bool host = false;
  int line = 0;
  std::map<int, std::string> at_port;  ///< guid of the node at the other end of each port
};
using Nodes = std::map<std::string, Node>;  ///< by guid, such as "S-0002c902..."

/// Returns the number in "[16]..."; 0 if there is none.
int port_of(std::string_view word) {
  int port = 0;
  if (word.starts_with('[')) std::from_chars(word.data() + 1, word.data() + word.size(), port);
  return port;
}

/// Returns the lid of a host's port from a comment such as "# lid 7 lmc 0 ...".
std::uint32_t lid_of(const Lines& lines) {
  const auto& words = lines.words();
  std::uint32_t lid = 0;
  for (std::size_t i = 1; i < words.size() && lid == 0; ++i)
    if (words[i - 1] == "lid") std::from_chars(words[i].data(), words[i].data() + words[i].size(), lid);
  return lid;
}

/// Adds the routes of the tables to the network, whose vertices have the names of the nodes. Lids of other nodes than
/// hosts are ignored, as are further lids of a host, except the first.
std::optional<Problem> add_routes(const ForwardingTables& tables, const Nodes& nodes,
                                  const std::map<std::uint32_t, std::string>& hosts, NetworkBuilder& network) {
  std::map<std::pair<Vertex, Vertex>, bool> known;
  for (const ForwardingTables::Entry& entry : tables.entries) {
    const auto at = nodes.find(entry.at);
    const auto host = hosts.find(entry.lid);
    if (at == nodes.end())
      return Problem{"unknown switch \"" + entry.at + "\": the dump does not describe it", entry.line, 1};
    if (host == hosts.end() || entry.port == 0 || entry.port == 255) continue;
    const auto next = at->second.at_port.find(entry.port);
    if (next == at->second.at_port.end())
      return Problem{"port " + std::to_string(entry.port) + " of " + at->second.name + " leads nowhere in the dump",
                     entry.line, 1};
    const Node& neighbour = nodes.at(next->second);
    const std::string& name = nodes.at(host->second).name;
    if (neighbour.host && neighbour.name != name)
      return Problem{"port " + std::to_string(entry.port) + " of " + at->second.name + " leads to " + neighbour.name +
                         ", not to " + name,
                     entry.line, 1};
    const Vertex from = *network.find(at->second.name), to = *network.find(name);
    if (known.try_emplace({from, to}, true).second) network.route(from, to, *network.find(neighbour.name));
  }
  return std::nullopt;
}

}  // namespace

Result<Network> parse_ibnetdiscover(std::string_view text) {
  Lines lines(text);
  Nodes nodes;
  ForwardingTables tables;
  std::map<std::uint32_t, std::string> hosts;  // by lid
  std::vector<std::string> order;
  std::vector<Cable> cables;
  std::map<std::string, int> names;
  std::string here;
  while (lines.next(false)) {
    const std::string_view first = lines.words()[0];
    std::size_t at = 0;
    if (first == "Switch" || first == "Ca" || first == "Rt") {
      const auto id = quoted(lines.line(), at);
      if (!id || id->size() < 3) return lines.here("expected " + std::string(first) + " PORTS \"GUID\" # \"NAME\"");
      const auto description = quoted(lines.line(), at);
      Node node{description.value_or(*id), first == "Ca", lines.number(), {}};
      const std::size_t semicolon = node.name.find(';');  // such as "MF0;leaf1:MSB7800/U1"
      if (!node.host && semicolon != std::string::npos)
        node.name = node.name.substr(semicolon + 1, node.name.find(':', semicolon) - semicolon - 1);
      node.name = as_word(node.name.substr(0, node.name.find_first_of(blanks)));
      if (node.name.empty()) node.name = as_word(*id);
      if (!node.host && names[node.name]++ > 0) node.name = as_word(*id);
      here = *id;
      if (!nodes.try_emplace(here, node).second) return lines.here("\"" + here + "\" a second time");
      order.push_back(here);
    } else if (first.starts_with('[')) {
      if (here.empty()) return lines.here("a port before any Switch or Ca");
      at = lines.line().find(']');
      const auto peer = quoted(lines.line(), at);
      if (!peer) return lines.here("expected [PORT] \"GUID\"[PORT]: the dump is cut off");
      if (*peer == here) return lines.here("a link from \"" + here + "\" to itself");
      nodes[here].at_port[port_of(first)] = *peer;
      if (nodes[here].host)
        if (const std::uint32_t lid = lid_of(lines)) hosts.try_emplace(lid, here);
      cables.push_back({here, *peer, rate_of(lines.words().back()), lines.number()});
    } else if (ForwardingTables::has(first)) {
      if (const auto problem = tables.read(lines)) return *problem;
    } else if (!first.starts_with('#') && first.find('=') == std::string_view::npos && first != "DR") {
      return lines.here("expected Switch, Ca or a port such as [1], found \"" + std::string(first) + '"');
    }
  }
  double unit = 0;
  std::map<std::pair<std::string, std::string>, int> both;
  for (const Cable& cable : cables) {
    const auto peer = nodes.find(cable.to);
    if (peer == nodes.end())
      return Problem{"unknown \"" + cable.to + "\": the dump does not describe it", cable.line, 1};
    if (peer->second.host && nodes[cable.from].host) return Problem{"hosts linked without a switch", cable.line, 1};
    if (nodes[cable.from].host && cable.rate > 0 && (unit == 0 || cable.rate < unit)) unit = cable.rate;
    ++both[{cable.from, cable.to}];
  }
  for (const Cable& cable : cables)
    if (both[{cable.from, cable.to}] != both[{cable.to, cable.from}])
      return Problem{"\"" + cable.from + "\" is linked to \"" + cable.to +
                         "\", which does not list that link: the dump is cut off",
                     cable.line, 1};
  NetworkBuilder network;
  for (const std::string& id : order) {
    const Node& node = nodes[id];
    if (node.host) network.host(node.name);
    else network.switch_(node.name);
  }
  std::map<std::pair<Vertex, Vertex>, double> rates;
  for (const Cable& cable : cables)
    rates[{*network.find(nodes[cable.from].name), *network.find(nodes[cable.to].name)}] +=
        unit > 0 && cable.rate > 0 ? cable.rate / unit : 1.0;
  for (const auto& [ends, rate] : rates)
    network.arc(ends.first, ends.second,
                static_cast<std::int32_t>(std::clamp(std::floor(rate + 0.01), 1.0, double{most_capacity})));
  if (const auto problem = add_routes(tables, nodes, hosts, network)) return *problem;
  Network finished = std::move(network).finish();
  if (finished.hosts == 0) return Problem{"there is no host (Ca)", std::max(1, lines.number()), 1};
  if (cables.empty()) return Problem{"no port is linked", std::max(1, lines.number()), 1};
  if (const auto pair = unreachable(finished)) {
    const std::string& from = finished.names[static_cast<std::size_t>(pair->first)];
    int line = 1;
    for (const std::string& id : order)
      if (nodes[id].name == from) line = nodes[id].line;
    return Problem{"no path from " + from + " to " + finished.names[static_cast<std::size_t>(pair->second)], line, 1};
  }
  return finished;
}

}  // namespace swapmeet
