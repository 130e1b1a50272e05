/// Networks by name, such as slim-fly(q=5,hosts=4).
#include <array>
#include <charconv>

#include "network/generators.hpp"

namespace swapmeet {

namespace {

struct NetworkParameter {
  std::string_view key;
  std::int32_t value;  ///< default; `required`: must be given
  std::int32_t least = 1;
};

constexpr std::int32_t required = -1;

struct Rule {
  NetworkName name;
  std::vector<NetworkParameter> parameters;
  Result<Network> (*make)(const std::vector<std::int32_t>& values, const std::vector<std::int32_t>& sizes);
};

const std::array<Rule, 5>& rules() {
  static const std::array<Rule, 5> table{{
      {{"slim-fly", "q, hosts=1", "MMS graph of 2*q*q switches, diameter 2"},
       {{"q", required, 2}, {"hosts", 1}},
       [](const auto& v, const auto&) { return slim_fly(v[0], v[1]); }},
      {{"fat-tree", "leaves, hosts, spines, parallel=1", "two levels, tapered hosts : spines*parallel"},
       {{"leaves", required}, {"hosts", required}, {"spines", required}, {"parallel", 1}},
       [](const auto& v, const auto&) { return fat_tree(v[0], v[1], v[2], v[3]); }},
      {{"fat-tree3", "pods, leaves, hosts, aggregations, cores",
        "three levels; leaves of a pod, hosts of a leaf, cores of an aggregation switch"},
       {{"pods", required}, {"leaves", required}, {"hosts", required}, {"aggregations", required}, {"cores", required}},
       [](const auto& v, const auto&) { return fat_tree3(v[0], v[1], v[2], v[3], v[4]); }},
      {{"dragonfly", "a, p, h, g=a*h+1", "g groups of a switches with p hosts and h links to other groups"},
       {{"a", required}, {"p", required}, {"h", required}, {"g", 0, 1}},
       [](const auto& v, const auto&) { return dragonfly(v[0], v[1], v[2], v[3]); }},
      {{"torus", "dims, hosts=1, ordered=0",
        "a switch at every place of a grid, as in dims=4x4x8; ordered=1: routes along one dimension after the other"},
       {{"hosts", 1}, {"ordered", 0, 0}},
       [](const auto& v, const auto& sizes) { return torus(sizes, v[0], v[1] != 0); }},
  }};
  return table;
}

/// Parses a number from `least` on that starts at text[at], and moves `at` behind it.
bool number(std::string_view text, std::size_t& at, std::int32_t least, std::int32_t& value) {
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error != std::errc() || value < least || value > most_vertices) return false;
  at = static_cast<std::size_t>(end - text.data());
  return true;
}

}  // namespace

std::vector<NetworkName> network_names() {
  std::vector<NetworkName> names;
  for (const Rule& rule : rules()) names.push_back(rule.name);
  return names;
}

Result<Network> named_network(std::string_view text) {
  std::size_t at = 0;
  const auto expected = [&](const std::string& what) {
    return Problem{"expected " + what, 0, static_cast<int>(at) + 1};
  };
  const Rule* rule = nullptr;
  std::string names;
  for (const Rule& candidate : rules()) {
    names += (names.empty() ? "" : ", ") + std::string(candidate.name.name);
    if (text.substr(0, text.find('(')) == candidate.name.name) rule = &candidate;
  }
  if (rule == nullptr) return expected("a network: " + names);
  const std::string keys(rule->name.parameters);
  at = rule->name.name.size();
  std::vector<std::int32_t> values, sizes;
  std::vector<bool> given(rule->parameters.size());
  for (const NetworkParameter& parameter : rule->parameters) values.push_back(parameter.value);
  if (at < text.size() && text[at] == '(') ++at;
  for (bool more = at < text.size(); more && at < text.size() && text[at] != ')';) {
    const std::string_view key = text.substr(at, text.find('=', at) - at);
    if (rule->name.name == "torus" && key == "dims" && sizes.empty()) {
      for (at += 5; sizes.empty() || (at < text.size() && text[at] == 'x' && ++at);) {
        sizes.push_back(0);
        if (!number(text, at, 1, sizes.back())) return expected("sizes of dimensions, as in 4x4x8");
      }
    } else {
      std::size_t i = 0;
      while (i < rule->parameters.size() && rule->parameters[i].key != key) ++i;
      if (i == rule->parameters.size()) return expected("one of " + keys);
      if (given[i]) return expected("each parameter once, not " + std::string(key) + " again");
      given[i] = true;
      at += key.size() + 1;
      if (at > text.size() || !number(text, at, rule->parameters[i].least, values[i]))
        return expected("a number from " + std::to_string(rule->parameters[i].least) + " to " +
                        std::to_string(most_vertices));
    }
    more = at < text.size() && text[at] == ',';
    if (more) ++at;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] == required)
      return expected(std::string(rule->parameters[i].key) + "=NUMBER; " + std::string(rule->name.name) + " takes " +
                      keys);
  if (rule->name.name == "torus" && sizes.empty()) return expected("dims=SIZExSIZE..., as in 4x4x8");
  if (at + 1 != text.size() || text[at] != ')') return expected("\")\" at the end");
  return rule->make(values, sizes);
}

}  // namespace swapmeet
