/// The parser of Slurm's topology.conf (topology/tree). The file has no capacities: the link of a switch to its parent
/// is assumed to have the capacity of all hosts below the switch, without taper.
#include <algorithm>
#include <cctype>
#include <map>

#include "network/text.hpp"

namespace swapmeet {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

struct Leaf {
  std::string name;
  int line = 0;
  std::vector<std::string> nodes, switches;
  std::int32_t hosts = 0;  ///< number of hosts below it
  int parents = 0;
};

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view list) {
  std::vector<std::string> names;
  const auto problem = [](std::string what, std::size_t at) {
    return Problem{std::move(what), 0, static_cast<int>(at) + 1};
  };
  for (std::size_t at = 0; at < list.size();) {
    std::size_t end = at, open = std::string_view::npos, close = open;
    for (;
         end < list.size() && (list[end] != ',' || (open != std::string_view::npos && close == std::string_view::npos));
         ++end) {
      if (list[end] == '[' && open == std::string_view::npos) open = end;
      if (list[end] == ']' && open != std::string_view::npos) close = end;
    }
    if (end == at) return problem("expected a name", at);
    if (open == std::string_view::npos) {
      names.emplace_back(list.substr(at, end - at));
    } else {
      if (close == std::string_view::npos) return problem("\"[\" without \"]\"", open);
      for (std::size_t i = open + 1; i < close;) {
        const std::size_t stop = std::min(list.find(',', i), close);
        const std::string_view range = list.substr(i, stop - i);
        const std::size_t dash = std::min(range.find('-'), range.size());
        const std::string low(range.substr(0, dash)), high(dash < range.size() ? range.substr(dash + 1) : range);
        const auto digits = [](const std::string& s) {
          return !s.empty() && s.size() < 8 &&
                 std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c); });
        };
        if (!digits(low) || !digits(high) || std::stoi(low) > std::stoi(high))
          return problem("expected a range of numbers, as in [0-3,7]", i);
        for (int n = std::stoi(low); n <= std::stoi(high); ++n) {
          std::string digit = std::to_string(n);
          if (digit.size() < low.size()) digit.insert(0, low.size() - digit.size(), '0');
          names.push_back(std::string(list.substr(at, open - at)) + digit +
                          std::string(list.substr(close + 1, end - close - 1)));
        }
        i = stop + 1;
      }
    }
    if (names.size() > (1u << 20)) return problem("more than a million names", at);
    at = end + 1;
  }
  return names;
}

Result<Network> parse_slurm(std::string_view text) {
  Lines lines(text);
  std::vector<Leaf> switches;
  std::map<std::string, std::size_t> number;
  while (lines.next()) {
    Leaf leaf;
    leaf.line = lines.number();
    for (std::size_t i = 0; i < lines.words().size(); ++i) {
      const std::string_view word = lines.words()[i];
      const std::size_t sign = word.find('=');
      if (sign == std::string_view::npos) return lines.at(i, "expected KEY=VALUE, found \"" + std::string(word) + '"');
      const std::string key = lower(word.substr(0, sign));
      const auto names = expand_hosts(word.substr(sign + 1));
      if (!names) {
        Problem problem = lines.at(i, names.problem().what);
        problem.column += static_cast<int>(sign) + names.problem().column;
        return problem;
      }
      if (key == "switchname") leaf.name = std::string(word.substr(sign + 1));
      else if (key == "nodes") leaf.nodes = *names;
      else if (key == "switches") leaf.switches = *names;
      else if (key != "linkspeed")
        return lines.at(
            i, "expected SwitchName, Nodes, Switches or LinkSpeed, found \"" + std::string(word.substr(0, sign)) + '"');
    }
    if (leaf.name.empty()) return lines.here("a line without SwitchName=");
    if (leaf.nodes.empty() && leaf.switches.empty())
      return lines.here("switch " + leaf.name + " has neither Nodes= nor Switches=");
    if (!number.try_emplace(leaf.name, switches.size()).second)
      return lines.here("switch " + leaf.name + " a second time");
    switches.push_back(std::move(leaf));
  }
  std::vector<std::size_t> order;  // parents precede children
  for (const Leaf& parent : switches)
    for (const std::string& child : parent.switches) {
      const auto at = number.find(child);
      if (at == number.end()) return Problem{"unknown switch " + child + " below " + parent.name, parent.line, 1};
      if (++switches[at->second].parents > 1)
        return Problem{"switch " + child + " is below two switches", parent.line, 1};
    }
  for (std::size_t i = 0; i < switches.size(); ++i)
    if (switches[i].parents == 0) order.push_back(i);
  if (order.size() > 1)
    return Problem{"no path from " + switches[order[0]].name + " to " + switches[order[1]].name,
                   switches[order[1]].line, 1};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const std::string& child : switches[order[i]].switches) order.push_back(number[child]);
  for (const Leaf& leaf : switches)
    if (std::none_of(order.begin(), order.end(), [&](std::size_t i) { return switches[i].name == leaf.name; }))
      return Problem{"switch " + leaf.name + " is below itself", leaf.line, 1};
  NetworkBuilder network;
  for (const Leaf& leaf : switches)
    for (const std::string& host : leaf.nodes) {
      if (number.contains(host)) return Problem{host + " is a switch", leaf.line, 1};
      if (network.find(host)) return Problem{"host " + host + " a second time", leaf.line, 1};
      network.host(host);
    }
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    Leaf& leaf = switches[*at];
    leaf.hosts = static_cast<std::int32_t>(leaf.nodes.size());
    for (const std::string& host : leaf.nodes) network.link(network.host(host), network.switch_(leaf.name));
    for (const std::string& child : leaf.switches) {
      const std::int32_t below = switches[number[child]].hosts;
      network.link(network.switch_(child), network.switch_(leaf.name), std::clamp(below, 1, most_capacity));
      leaf.hosts += below;
    }
  }
  Network finished = std::move(network).finish();
  if (finished.hosts == 0) return Problem{"there is no host", std::max(1, lines.number()), 1};
  return finished;
}

}  // namespace swapmeet
