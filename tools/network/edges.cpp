/// Our own text form of networks.

#include "network/text.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_(text) {}

  Result<Network> read() {
    while (lines_.next()) {
      const std::string_view verb = lines_.words()[0];
      std::optional<Problem> problem;
      if (verb == "switch") problem = switches();
      else if (verb == "host") problem = host();
      else if (verb == "link" || verb == "arc") problem = link(verb == "link");
      else if (verb == "route") routes_.push_back(lines_);
      else problem = lines_.here("expected switch, host, link, arc or route, found \"" + std::string(verb) + '"');
      if (problem) return *problem;
    }
    for (const Lines& line : routes_)
      if (auto problem = route(line)) return *problem;
    if (lines_of_hosts_.empty()) return Problem{"there is no host", std::max(1, lines_.number()), 1};
    Network network = std::move(network_).finish();
    for (std::size_t i = 1; i < network.routes.size(); ++i)
      if (network.routes[i - 1].at == network.routes[i].at && network.routes[i - 1].host == network.routes[i].host) {
        const std::string& at = network.names[static_cast<std::size_t>(network.routes[i].at)];
        return Problem{
            "two routes from " + at + " to " + network.names[static_cast<std::size_t>(network.routes[i].host)],
            routes_.back().number(), 1};
      }
    if (const auto pair = unreachable(network))
      return Problem{"no path from " + network.names[static_cast<std::size_t>(pair->first)] + " to " +
                         network.names[static_cast<std::size_t>(pair->second)],
                     lines_of_hosts_[static_cast<std::size_t>(pair->first)], 1};
    return network;
  }

 private:
  std::string word(std::size_t i) const { return std::string(lines_.words()[i]); }

  std::optional<Problem> switches() {
    if (lines_.words().size() < 2) return lines_.at(1, "expected switch NAME...");
    for (std::size_t i = 1; i < lines_.words().size(); ++i) {
      const auto known = network_.find(word(i));
      if (known && network_.is_host(*known)) return lines_.at(i, word(i) + " is a host");
      network_.switch_(word(i));
    }
    return std::nullopt;
  }

  /// Reads a line `host NAME SWITCH [CAPACITY]`.
  std::optional<Problem> host() {
    std::int32_t capacity = 1;
    if (auto problem = ends("host NAME SWITCH [CAPACITY]", capacity)) return problem;
    const auto known = network_.find(word(1));
    if (known && !network_.is_host(*known)) return lines_.at(1, word(1) + " is a switch");
    const auto at = network_.find(word(2));
    if (at && network_.is_host(*at)) return lines_.at(2, word(2) + " is a host: hosts are linked to switches");
    const Vertex host = network_.host(word(1)), leaf = network_.switch_(word(2));
    if (!known) lines_of_hosts_.push_back(lines_.number());
    return connect(host, leaf, capacity, true);
  }

  /// Reads a line `link SWITCH SWITCH [CAPACITY]`, or `arc` with the same words, for one direction.
  std::optional<Problem> link(bool both) {
    std::int32_t capacity = 1;
    if (auto problem = ends(both ? "link SWITCH SWITCH [CAPACITY]" : "arc SWITCH SWITCH [CAPACITY]", capacity))
      return problem;
    for (const std::size_t i : {1, 2}) {
      const auto known = network_.find(word(i));
      if (known && network_.is_host(*known))
        return lines_.at(i, word(i) + " is a host: write host " + word(i) + " SWITCH");
    }
    return connect(network_.switch_(word(1)), network_.switch_(word(2)), capacity, both);
  }

  std::optional<Problem> connect(Vertex a, Vertex b, std::int32_t capacity, bool both) {
    if (network_.has_arc(a, b) || (both && network_.has_arc(b, a)))
      return lines_.here("a second link from " + word(1) + " to " + word(2) +
                         ": give the one link the capacity of both");
    if (both) network_.link(a, b, capacity);
    else network_.arc(a, b, capacity);
    return std::nullopt;
  }

  std::optional<Problem> ends(const char* form, std::int32_t& capacity) {
    const auto& words = lines_.words();
    if (words.size() < 3 || words.size() > 4)
      return lines_.at(words.size() < 3 ? words.size() : 4, std::string("expected ") + form);
    if (words[1] == words[2]) return lines_.at(2, "a link from " + word(1) + " to itself");
    if (words.size() == 3 || read_number(words[3], 1, most_capacity, capacity)) return std::nullopt;
    return lines_.at(3,
                     "expected a capacity from 1 to " + std::to_string(most_capacity) + ", found \"" + word(3) + '"');
  }

  /// Reads a line `route SWITCH HOST NEXT`.
  std::optional<Problem> route(const Lines& line) {
    const auto& words = line.words();
    if (words.size() != 4) return line.at(std::min<std::size_t>(words.size(), 4), "expected route SWITCH HOST NEXT");
    std::optional<Vertex> vertex[4];
    for (std::size_t i = 1; i < 4; ++i)
      if (!(vertex[i] = network_.find(std::string(words[i]))))
        return line.at(i, "unknown " + std::string(i == 2 ? "host " : "switch ") + std::string(words[i]));
    if (network_.is_host(*vertex[1])) return line.at(1, std::string(words[1]) + " is a host: it passes nothing on");
    if (!network_.is_host(*vertex[2])) return line.at(2, std::string(words[2]) + " is a switch: routes lead to hosts");
    if (!network_.has_arc(*vertex[1], *vertex[3]))
      return line.at(3, "there is no link from " + std::string(words[1]) + " to " + std::string(words[3]));
    if (network_.is_host(*vertex[3]) && vertex[3] != vertex[2])
      return line.at(3, std::string(words[3]) + " is another host");
    network_.route(*vertex[1], *vertex[2], *vertex[3]);
    return std::nullopt;
  }

  Lines lines_;
  NetworkBuilder network_;
  std::vector<Lines> routes_;
  std::vector<int> lines_of_hosts_;
};

}  // namespace

Result<Network> parse_edges(std::string_view text) { return Reader(text).read(); }

std::string to_text(const Network& network) {
  std::string text;
  const auto name = [&](Vertex v) { return ' ' + network.names[static_cast<std::size_t>(v)]; };
  for (Vertex v = network.hosts; v < network.vertices(); ++v)
    text += ((v - network.hosts) % 8 == 0 ? (v > network.hosts ? "\nswitch" : "switch") : "") + name(v);
  text += '\n';
  for (const Link& link : network.links) {
    if (network.is_host(link.to)) continue;  // written with the link in the other direction
    const std::int32_t back = network.find_link(link.to, link.from);
    const bool both = back >= 0 && network.links[static_cast<std::size_t>(back)].capacity == link.capacity;
    if (both && link.from > link.to) continue;
    text += network.is_host(link.from) ? "host" : both ? "link" : "arc";
    text += name(link.from) + name(link.to) + (link.capacity > 1 ? ' ' + std::to_string(link.capacity) : "") + '\n';
  }
  for (const Route& route : network.routes)
    text += "route" + name(route.at) + name(route.host) + name(network.links[static_cast<std::size_t>(route.link)].to) +
            '\n';
  return text;
}

Result<Network> parse_network(std::string_view text) {
  for (Lines lines(text); lines.next(false);) {
    const std::string_view word = lines.words()[0];
    if (word.starts_with("vendid=") || word.starts_with("switchguid=") || word.starts_with("caguid=") ||
        word.starts_with("sysimgguid=") || word == "Unicast" ||
        ((word == "Switch" || word == "Ca") && lines.words().size() > 2))
      return parse_ibnetdiscover(text);
    if (word.size() > 11 && (word.starts_with("SwitchName=") || word.starts_with("switchname=")))
      return parse_slurm(text);
    if (!word.starts_with('#')) break;
  }
  return parse_edges(text);
}

}  // namespace swapmeet
