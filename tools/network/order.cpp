#include "network/order.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "network/generators.hpp"
#include "network/order_cache.hpp"
#include "network/text.hpp"
#include "network/torus_slots.hpp"
#include "schedule/owned_file.hpp"

namespace swapmeet {

namespace {

constexpr std::size_t most_network_bytes = std::size_t{128} << 20;
constexpr std::int64_t most_hops = std::int64_t{1} << 27;  ///< limit on the hops that routing stores, 2 bytes each
constexpr std::int64_t moves_for_each_message = 2000;

/// Returns the part of a host's name before the first dot.
std::string_view short_name(std::string_view name) { return name.substr(0, name.find('.')); }

/// Returns the hosts of the members by name. A name that is not found is compared without its domain.
Result<Placement> placed_by_name(const Network& network, const Members& members) {
  std::unordered_map<std::string_view, Vertex> whole, shortened;
  for (Vertex host = 0; host < network.hosts; ++host) {
    const std::string_view name = network.names[static_cast<std::size_t>(host)];
    whole.emplace(name, host);
    const auto [known, is_new] = shortened.emplace(short_name(name), host);
    if (!is_new) known->second = -1;  // ambiguous
  }
  Placement placement;
  for (const std::string_view name : members.hosts) {
    const auto found = whole.find(name);
    const auto near = shortened.find(short_name(name));
    if (found != whole.end()) placement.push_back(found->second);
    else if (near != shortened.end() && near->second >= 0) placement.push_back(near->second);
    else return Problem{"it has no host " + in_quotes(name) + ", where ranks run"};
  }
  return placement;
}

Result<Placement> placed(const OrderSource& source, const Network& network, const Members& members) {
  if (source.place.empty() && !members.hosts.empty()) return placed_by_name(network, members);
  const Result<Placement> world = parse_placement(source.place, network, members.world);
  if (!world) return Problem{"place=" + in_quotes(source.place) + ": " + world.problem().text()};
  Placement placement;
  for (const Rank rank : members.world_ranks) placement.push_back((*world)[static_cast<std::size_t>(rank)]);
  return placement;
}

/// Returns why routes cannot be computed; "" if they can.
std::string too_large(const Network& network, const Placement& placement) {
  const std::int64_t destinations = std::min<std::int64_t>(static_cast<std::int64_t>(placement.size()), network.hosts);
  if (destinations * network.vertices() <= most_hops) return "";
  return "it has " + std::to_string(network.hosts) + " hosts and " + std::to_string(network.switches()) +
         " switches, too many to find the routes of " + std::to_string(placement.size()) +
         " ranks: leave out what is not used";
}

Result<Routing> routed(const OrderSource& source, const Network& network, const Placement& placement) {
  if (const std::string problem = too_large(network, placement); !problem.empty()) return Problem{problem};
  const std::string& way = source.routing;
  std::uint64_t seed = 0;
  if (way.starts_with("hash:")) std::from_chars(way.data() + 5, way.data() + way.size(), seed);
  return Routing::make(network,
                       way == "first"            ? Spread::first
                       : way.starts_with("hash") ? Spread::hash
                                                 : Spread::destination,
                       seed, &placement);
}

/// The contents of the source: a table, or a network from a file or a name.
struct Read {
  std::optional<SlotTable> table;  ///< if set, there is no network
  Network network;
};

Result<Read> read(const OrderSource& source) {
  const Result<std::string> text = text_of_file(source.network, most_network_bytes);
  if (text && is_slot_table(*text)) {
    Result<SlotTable> table = parse_slots(*text);
    if (!table) return in_source(source, table.problem());
    return Read{*std::move(table), {}};
  }
  const bool named = !text && text.problem().line < 0;
  Result<Network> network = text    ? parse_network(*text)
                            : named ? named_network(source.network)
                                    : Result<Network>(text.problem());
  if (network) return Read{std::nullopt, *std::move(network)};
  if (!named) return in_source(source, network.problem());
  return Problem{in_quotes(source.network) + " is no file, and no network: " + network.problem().text()};
}

/// Calls use(routing, placement) if both are available.
template <class T, class Use>
Result<T> on_network(const OrderSource& source, const Network& network, const Members& members, Use use) {
  const Result<Placement> placement = placed(source, network, members);
  if (!placement) return in_source(source, placement.problem());
  const Result<Routing> routing = routed(source, network, *placement);
  if (!routing) return in_source(source, routing.problem());
  return use(*routing, *placement);
}

SlotTable computed(const Routing& routing, const Placement& placement, const Effort& effort) {
  const std::uint64_t key =
      network_key(routing.network(), static_cast<int>(routing.spread()), routing.seed(), placement);
  if (auto known = cached_order(key, static_cast<Rank>(placement.size()));
      known && overfull(routing, placement, *known).empty()) {
    // quick, unlike conflict_free_slots()
    const std::optional<SlotTable> of_torus = torus_slots(routing, placement);
    if (!of_torus || of_torus->slots >= known->slots) return *std::move(known);
  }
  SlotTable slots = conflict_free_slots(routing, placement, effort);
  keep_order(slots);
  return slots;
}

}  // namespace

Effort standard_effort(Rank members, double seconds) {
  return {0, moves_for_each_message * members * std::max(1, members - 1), seconds};
}

Result<SlotTable> make_order(const OrderSource& source, const Members& members, double seconds) {
  if (const std::string problem = too_many_in_order(members.count()); !problem.empty()) return Problem{problem};
  const Result<Read> found = read(source);
  if (!found) return found.problem();
  if (found->table) {
    Result<SlotTable> slots = part_of(*found->table, members.world_ranks, members.world);
    return slots ? slots : Result<SlotTable>(in_source(source, slots.problem()));
  }
  return on_network<SlotTable>(source, found->network, members,
                               [&](const Routing& routing, const Placement& placement) {
                                 return computed(routing, placement, standard_effort(members.count(), seconds));
                               });
}

std::string order_problem(const OrderSource& source, const Members& members) {
  if (std::string problem = too_many_in_order(members.count()); !problem.empty()) return problem;
  const Result<Read> found = read(source);
  if (!found) return found.problem().text();
  if (found->table) {
    const Result<SlotTable> slots = part_of(*found->table, members.world_ranks, members.world);
    return slots ? "" : in_source(source, slots.problem()).text();
  }
  const Result<bool> fits =
      on_network<bool>(source, found->network, members, [](const Routing&, const Placement&) { return true; });
  return fits ? "" : fits.problem().text();
}

Result<std::string> overfull(const OrderSource& source, const Members& members, const SlotTable& slots) {
  const Result<Read> found = read(source);
  if (!found) return found.problem();
  if (found->table) return std::string();
  return on_network<std::string>(
      source, found->network, members,
      [&](const Routing& routing, const Placement& placement) { return overfull(routing, placement, slots); });
}

}  // namespace swapmeet
