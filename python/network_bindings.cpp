/// Python's view of networks: what they are, how they are routed, what a schedule asks of them, conflict-free orders.
#include "network_bindings.hpp"

#include "bindings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "network/generators.hpp"
#include "network/link_bound.hpp"
#include "network/slots.hpp"
#include "network/text.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace swapmeet;

namespace {

/// A network with routes and ranks: Python sees one object, the core's parts refer to one another.
struct PlacedNetwork {
  PlacedNetwork(Network given, Spread spread, std::uint64_t seed, std::string_view text, Rank ranks)
      : network(std::move(given)), routing(value_or_raise(Routing::make(network, spread, seed))),
        placement(value_or_raise(parse_placement(text, network, ranks))) {}
  PlacedNetwork(const PlacedNetwork&) = delete;

  Network network;
  Routing routing;
  Placement placement;
};

/// Bytes of each message from each rank (a row) to each, flattened; none: none.
std::vector<std::int64_t> weights_of(const PlacedNetwork& placed, const std::vector<std::vector<std::int64_t>>& rows) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::vector<std::int64_t> weights;
  std::int64_t sum = 0;
  if (!rows.empty() && rows.size() != placed.placement.size())
    throw std::invalid_argument("sizes are of " + std::to_string(rows.size()) + " ranks, not of " +
                                std::to_string(placed.placement.size()));
  for (const std::vector<std::int64_t>& row : rows) {
    if (row.size() != rows.size())
      throw std::invalid_argument("expected " + std::to_string(rows.size()) + " sizes of each rank, found " +
                                  std::to_string(row.size()));
    for (const std::int64_t bytes : row) {
      if (bytes < 0 || bytes > most - sum)
        throw std::invalid_argument("sizes are from 0 on, and 2^62 bytes at most in all");
      sum += bytes;
    }
    weights.insert(weights.end(), row.begin(), row.end());
  }
  return weights;
}

using SizeRows = std::vector<std::vector<std::int64_t>>;

std::vector<std::int32_t> path_of(const PlacedNetwork& placed, std::int32_t from, std::int32_t to) {
  if (std::min(from, to) < 0 || std::max(from, to) >= placed.network.hosts) throw std::invalid_argument("not a host");
  std::vector<std::int32_t> links;
  placed.routing.path(from, to, links);
  return links;
}

void require_rank(const SlotTable& slots, Rank rank) {
  if (rank < 0 || rank >= slots.ranks)
    throw std::invalid_argument("rank " + std::to_string(rank) + " is not one of " + std::to_string(slots.ranks));
}

/// Returns for each slot the rank with which `rank` exchanges; -1: none. `slot_with(other)` is the slot of `other`.
std::vector<Rank> peers_of(const SlotTable& slots, Rank rank, auto slot_with) {
  require_rank(slots, rank);
  std::vector<Rank> peers(static_cast<std::size_t>(slots.slots), -1);
  for (Rank other = 0; other < slots.ranks; ++other)
    if (other != rank) peers[static_cast<std::size_t>(slot_with(other))] = other;
  return peers;
}

void require_suitable(const PlacedNetwork& placed, const Spec& spec) {
  if (spec.family == Family::native) throw std::invalid_argument("native is the host MPI: it has no schedule");
  const std::string problem = unsuitable(spec, {static_cast<Rank>(placed.placement.size()), {placed.placement}});
  if (!problem.empty()) throw std::invalid_argument(problem);
}

/// The order of the topology that `spec` asks for, of ranks on these hosts unless it places them itself.
std::shared_ptr<const SlotRows> order_on(const PlacedNetwork& placed, const Spec& spec) {
  if (spec.order != Order::topology) return nullptr;
  const Shape shape{static_cast<Rank>(placed.placement.size()), {placed.placement}};
  Members members = members_of(spec, shape);
  for (const Rank rank : members.world_ranks)
    members.hosts.push_back(
        placed.network.names[static_cast<std::size_t>(placed.placement[static_cast<std::size_t>(rank)])]);
  return std::make_shared<const SlotRows>(rows_of(value_or_raise(make_order(spec.source, members, order_seconds()))));
}

void bind_network(nb::module_& m) {
  nb::class_<Network>(m, "Network", "Hosts, switches and directed links. str() is its text form (docs/networks.md).")
      .def_prop_ro(
          "names", [](const Network& n) { return n.names; },
          "Of all hosts, then all switches: a vertex is a number in this list.")
      .def_prop_ro(
          "hosts", [](const Network& n) { return n.hosts; }, "How many vertices are hosts.")
      .def_prop_ro(
          "links",
          [](const Network& n) {
            std::vector<std::tuple<Vertex, Vertex, std::int32_t>> links;
            for (const Link& link : n.links) links.emplace_back(link.from, link.to, link.capacity);
            return links;
          },
          "(from, to, capacity) of each direction of each link, by from, then to.")
      .def_prop_ro(
          "routes", [](const Network& n) { return n.routes.size(); }, "How many routes are given.")
      .def("diameter", &diameter, "The most links between two switches that have hosts.")
      .def("__eq__", &equals<Network>)
      .def("__str__", [](const Network& n) { return to_text(n); });
  m.def(
      "parse_network", [](std::string_view text) { return value_or_raise(parse_network(text)); }, "text"_a,
      "Read our text form, a dump of ibnetdiscover or Slurm's topology.conf; ValueError says what is wrong "
      "and where.");
  m.def(
      "named_network", [](std::string_view text) { return value_or_raise(named_network(text)); }, "text"_a,
      "Make a network such as 'slim-fly(q=5,hosts=4)'; ValueError says what was expected and in which "
      "column.");
  m.def(
      "network_names",
      [] {
        std::vector<std::tuple<std::string, std::string, std::string>> rows;
        for (const NetworkName& name : network_names()) rows.emplace_back(name.name, name.parameters, name.meaning);
        return rows;
      },
      "(name, parameters, meaning) of each network that is made by name.");
}

void bind_placed_network(nb::module_& m) {
  nb::enum_<Spread>(m, "Spread", "Which of several minimal ways is taken.")
      .value("first", Spread::first)
      .value("destination", Spread::destination)
      .value("hash", Spread::hash);
  nb::class_<PlacedNetwork>(m, "PlacedNetwork", "A network with routes, and with ranks on its hosts.")
      .def(
          "__init__",
          [](PlacedNetwork* self, const Network& network, Spread spread, std::uint64_t seed, std::string_view placement,
             Rank ranks) {
            if (ranks < 0) throw std::invalid_argument("a negative number of ranks");
            new (self) PlacedNetwork(network, spread, seed, placement, ranks);
          },
          "network"_a, "spread"_a = Spread::destination, "seed"_a = 0, "placement"_a = "", "ranks"_a = 0,
          "Route and place.\n"
          "\n"
          "Parameters\n"
          "----------\n"
          "seed : of Spread.hash\n"
          "placement : block[:RANKS], cyclic[:HOSTS], random:SEED[:RANKS], or hosts, as in n3,n1*4\n"
          "ranks : P; 0: as many as the placement makes\n"
          "\n"
          "Raises\n"
          "------\n"
          "ValueError\n"
          "    If the placement is malformed or does not fit, or given routes lead nowhere.")
      .def_prop_ro(
          "network", [](const PlacedNetwork& p) -> const Network& { return p.network; },
          nb::rv_policy::reference_internal, "What it was made of.")
      .def_prop_ro(
          "placement", [](const PlacedNetwork& p) { return p.placement; }, "The host of each rank.")
      .def(
          "link_bound",
          [](const PlacedNetwork& p) {
            nb::gil_scoped_release release;
            return link_bound(p.routing, p.placement);
          },
          "What the busiest link between switches carries at least, whoever passes blocks on.")
      .def_prop_ro(
          "key",
          [](const PlacedNetwork& p) {
            return network_key(p.network, static_cast<int>(p.routing.spread()), p.routing.seed(), p.placement);
          },
          "Another for another network, routing or placement.")
      .def("path", &path_of, "source"_a, "destination"_a, "Numbers of the links from one host to another.")
      .def(
          "bound",
          [](const PlacedNetwork& p, const SizeRows& sizes) {
            const Bound b = bound(p.routing, p.placement, weights_of(p, sizes));
            return std::tuple(b.slots, b.link, b.injection, b.ejection, b.busiest_link, b.busiest_blocks);
          },
          "sizes"_a = SizeRows{},
          "(slots, of links between switches, of injection, of ejection, the busiest link, blocks on it over its "
          "capacity) of an all-to-all at least.\n"
          "\n"
          "Parameters\n"
          "----------\n"
          "sizes : (P, P), bytes from each rank to each; then the numbers are bytes, too")
      .def(
          "load",
          [](const PlacedNetwork& p, const Spec& spec, const SizeRows& sizes) {
            require_suitable(p, spec);
            if (!sizes.empty() && spec.family != Family::direct)
              throw std::invalid_argument("with sizes only direct exchanges are counted");
            const std::vector<std::int64_t> weights = weights_of(p, sizes);
            nb::gil_scoped_release release;
            const NetworkLoad load = network_load(p.routing, p.placement, spec, order_on(p, spec), weights);
            return std::pair(load.largest, load.blocks);
          },
          "spec"_a, "sizes"_a = SizeRows{},
          "(largest load of each round, blocks of each link) of a schedule; ValueError if it cannot serve the "
          "ranks.\n"
          "\n"
          "Parameters\n"
          "----------\n"
          "sizes : (P, P), bytes, of a direct exchange; then the numbers are bytes, too")
      .def(
          "order_load",
          [](const PlacedNetwork& p, const Spec& spec) {
            require_suitable(p, spec);
            if (spec.family != Family::direct || spec.order == Order::topology)
              throw std::invalid_argument("only direct exchanges have a peer order, and order=topology has slots");
            const NetworkLoad load = order_load(p.routing, p.placement, spec.order, spec.seed);
            return std::pair(load.largest, load.blocks);
          },
          "spec"_a, "As load(), of a direct exchange in which a rank whose turn is its own is idle for a round.")
      .def(
          "overfull",
          [](const PlacedNetwork& p, const SlotTable& slots) {
            if (static_cast<std::size_t>(slots.ranks) != p.placement.size())
              throw std::invalid_argument("the table is of another number of ranks");
            return overfull(p.routing, p.placement, slots);
          },
          "slots"_a, "The first link or rank that has more than its capacity in a slot; '' if none has.")
      .def(
          "slots",
          [](const PlacedNetwork& p, std::uint64_t seed, std::int64_t moves, double seconds, const SizeRows& sizes) {
            const std::vector<std::int64_t> weights = weights_of(p, sizes);
            nb::gil_scoped_release release;
            const Effort effort{seed, moves, seconds};
            return sizes.empty() ? conflict_free_slots(p.routing, p.placement, effort)
                                 : weighted_slots(p.routing, p.placement, weights, effort);
          },
          "seed"_a = 0, "moves"_a = Effort{}.moves, "seconds"_a = Effort{}.seconds, "sizes"_a = SizeRows{},
          "Compute a conflict-free order; reproducible if it ends by the number of moves, not by the time.\n"
          "\n"
          "Parameters\n"
          "----------\n"
          "sizes : (P, P), bytes from each rank to each: slots are then as short as can be, rather than few")
      .def(
          "bytes_in_turn",
          [](const PlacedNetwork& p, const SlotTable& slots, const SizeRows& sizes) {
            if (static_cast<std::size_t>(slots.ranks) != p.placement.size())
              throw std::invalid_argument("the table is of another number of ranks");
            if (sizes.empty()) throw std::invalid_argument("there are no sizes");
            return bytes_in_turn(slots, weights_of(p, sizes));
          },
          "slots"_a, "sizes"_a, "The sum of the largest messages of all slots, in bytes.");
}

void bind_slots(nb::module_& m) {
  nb::class_<SlotTable>(m, "Slots",
                        "In which slot each rank sends to each other. str() is the file's text (docs/networks.md).")
      .def_prop_ro(
          "ranks", [](const SlotTable& s) { return s.ranks; }, "P.")
      .def_prop_ro(
          "slots", [](const SlotTable& s) { return s.slots; }, "How many there are.")
      .def_prop_ro(
          "bound", [](const SlotTable& s) { return s.bound; }, "No order has fewer.")
      .def_prop_ro(
          "key", [](const SlotTable& s) { return s.key; }, "PlacedNetwork.key of what it was made for.")
      .def(
          "to",
          [](const SlotTable& s, Rank rank) {
            return peers_of(s, rank, [&](Rank other) { return s.slot(rank, other); });
          },
          "rank"_a, "For each slot, to whom the rank sends; -1: to nobody.")
      .def(
          "source",
          [](const SlotTable& s, Rank rank) {
            return peers_of(s, rank, [&](Rank other) { return s.slot(other, rank); });
          },
          "rank"_a, "For each slot, from whom it receives; -1: from nobody.")
      .def(
          "slot",
          [](const SlotTable& s, Rank from, Rank to) {
            require_rank(s, from);
            require_rank(s, to);
            return s.slot(from, to);
          },
          "source"_a, "destination"_a, "Of one message; -1: to itself.")
      .def("__eq__", &equals<SlotTable>)
      .def("__str__", [](const SlotTable& s) { return to_text(s); });
  m.def(
      "parse_slots", [](std::string_view text) { return value_or_raise(parse_slots(text)); }, "text"_a,
      "Read a table of slots; ValueError says what is wrong, and where.");
}

}  // namespace

void bind_networks(nb::module_& m) {
  bind_network(m);
  bind_placed_network(m);
  bind_slots(m);
}
