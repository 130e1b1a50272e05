#include "network/placement.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/orders.hpp"
#include "network/text.hpp"
#include "schedule/names.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

namespace {

constexpr Rank most_ranks = 1 << 20;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Result<Placement> listed(std::string_view text, const Network& network, Rank ranks) {
  Placement placement;
  for (const std::string_view part : split(text, ',')) {
    const int column = static_cast<int>(part.data() - text.data()) + 1;
    const std::size_t star = std::min(part.find('*'), part.size());
    const std::string_view name = part.substr(0, star);
    Rank times = 1;
    if (star < part.size() && !read_number(part.substr(star + 1), 1, most_ranks, times))
      return Problem{"expected a number of ranks behind *", 0, column + static_cast<int>(star) + 1};
    const auto end = network.names.begin() + network.hosts;
    const auto at = std::find(network.names.begin(), end, name);
    if (at == end) return Problem{"unknown host \"" + std::string(name) + '"', 0, column};
    placement.insert(placement.end(), static_cast<std::size_t>(times), static_cast<Vertex>(at - network.names.begin()));
  }
  if (ranks > 0 && placement.size() != static_cast<std::size_t>(ranks))
    return Problem{"it places " + std::to_string(placement.size()) + " ranks, not " + std::to_string(ranks), 0, 0};
  return placement;
}

}  // namespace

Result<Placement> parse_placement(std::string_view text, const Network& network, Rank ranks) {
  const auto words = split(text, ':');
  const bool block = words[0] == "block" || text.empty(), cyclic = words[0] == "cyclic", random = words[0] == "random";
  if (!block && !cyclic && !random) return listed(text, network, ranks);
  std::uint64_t seed = 0;
  Rank count = 0;
  const std::size_t at = random ? 2 : 1;  // index of the number
  const auto column = [&](std::size_t i) {
    return i < words.size() ? static_cast<int>(words[i].data() - text.data()) + 1 : static_cast<int>(text.size()) + 1;
  };
  if (random && (words.size() < 2 || !read_number(words[1], 0, UINT64_MAX, seed)))
    return Problem{"expected a seed, as in random:1", 0, column(1)};
  if (words.size() > at && (!read_number(words[at], 1, most_ranks, count) || words.size() > at + 1))
    return Problem{"expected block[:RANKS], cyclic[:HOSTS], random:SEED[:RANKS] or hosts", 0, column(at)};
  const std::int32_t hosts = network.hosts;
  if (cyclic) {
    if (count > hosts) return Problem{"there are only " + std::to_string(hosts) + " hosts", 0, column(1)};
    if (count == 0) count = hosts;
    Placement placement(static_cast<std::size_t>(ranks > 0 ? ranks : count));
    for (std::size_t r = 0; r < placement.size(); ++r)
      placement[r] = static_cast<Vertex>(r % static_cast<std::size_t>(count));
    return placement;
  }
  if (count == 0) count = std::max(1, (ranks + hosts - 1) / hosts);
  const std::int64_t room = std::int64_t{count} * hosts;
  if (room > most_ranks || ranks > room)
    return Problem{ranks > room
                       ? "there is room for " + std::to_string(room) + " ranks only, not " + std::to_string(ranks)
                       : "more than a million ranks",
                   0, column(at)};
  std::vector<Vertex> order(static_cast<std::size_t>(hosts));
  std::iota(order.begin(), order.end(), 0);
  if (random) order = shuffled_ranks(hosts, seed);
  Placement placement(static_cast<std::size_t>(ranks > 0 ? ranks : room));
  for (std::size_t r = 0; r < placement.size(); ++r) placement[r] = order[r / static_cast<std::size_t>(count)];
  return placement;
}

std::uint64_t network_key(const Network& network, int spread, std::uint64_t seed, const Placement& placement) {
  TextHash key;
  key.add(to_text(network));
  key.add("spread " + std::to_string(spread) + (spread == 2 ? " " + std::to_string(seed) : ""));
  for (const Vertex host : placement) key.add(' ' + std::to_string(host));
  return key.value();
}

}  // namespace swapmeet
