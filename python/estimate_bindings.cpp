/// Python's view of exchanges on networks, for simulators and by our own estimate. See bindings.cpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "algorithms/generate.hpp"
#include "bindings.hpp"
#include "estimate/estimate.hpp"
#include "estimate/goal.hpp"
#include "estimate/lower_bound.hpp"
#include "estimate/rounds.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

std::string goal_of(const Spec& spec, Rank ranks, Rank rank, std::int64_t block_bytes, std::string_view nodes,
                    std::optional<Copying> copying) {
  const Shape shape = shape_to_count(spec, ranks, nodes);
  if (rank < 0 || rank >= ranks)
    throw std::invalid_argument("rank " + std::to_string(rank) + " is not one of " + std::to_string(ranks));
  if (block_bytes < 1) throw std::invalid_argument("a block must have a byte");
  nb::gil_scoped_release release;
  return to_goal(generate(spec, shape, rank), block_bytes, copying);
}

/// Collects what it is told, for tests.
struct Told final : RoundReader {
  using Message = std::tuple<Rank, Rank, std::int64_t>;
  std::vector<std::tuple<double, double, bool, std::vector<std::vector<Message>>>> steps;

  void step(const Copies& copies, const TypedCopies&, bool sliding) override {
    steps.emplace_back(copies.blocks, copies.pieces, sliding, std::vector<std::vector<Message>>{});
  }
  void round() override { std::get<3>(steps.back()).emplace_back(); }
  void message(Rank from, Rank to, std::int64_t blocks) override {
    std::get<3>(steps.back()).back().emplace_back(from, to, blocks);
  }
};

/// An estimate, and what things cost if nobody says otherwise.
struct Estimate : NetworkEstimate {
  NetworkCosts costs;
};

void require_hosts(Rank ranks, Rank per_node, const Network& network) {
  if (ranks < 1 || per_node < 1) throw std::invalid_argument("there is one rank at least, and one a node");
  if ((ranks - 1) / per_node >= network.hosts)
    throw std::invalid_argument("the network has " + std::to_string(network.hosts) + " hosts: too few for " +
                                std::to_string(ranks) + " ranks");
}

/// Of the hosts that ranks are on.
Routing routing_of(const Network& network, Rank ranks, Rank per_node) {
  std::vector<Vertex> used;
  for (Vertex host = 0; host <= (ranks - 1) / per_node; ++host) used.push_back(host);
  return value_or_raise(Routing::make(network, Spread::destination, 0, &used));
}

LinkBound bound_links(const Network& network, Rank ranks, Rank per_node) {
  require_hosts(ranks, per_node, network);
  Placement placement;
  for (Rank rank = 0; rank < ranks; ++rank) placement.push_back(rank / per_node);
  nb::gil_scoped_release release;
  return link_bound(routing_of(network, ranks, per_node), placement);
}

LowerBound bound_time(Rank ranks, Rank per_node, const LinkBound& links, const NetworkCosts& costs,
                      std::int64_t block_bytes, std::int32_t ports, bool balanced) {
  if (ranks < 1 || per_node < 1) throw std::invalid_argument("there is one rank at least, and one a node");
  if (block_bytes < 0 || ports < 0) throw std::invalid_argument("sizes and ports are from 0 on");
  nb::gil_scoped_release release;
  return lower_bound({ranks, per_node, links, ports, balanced}, costs, block_bytes);
}

nb::typed<nb::dict, nb::str, nb::float_> by_name(const std::array<double, limit_names.size()>& numbers) {
  nb::typed<nb::dict, nb::str, nb::float_> named;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    named[nb::str(limit_names[i].data(), limit_names[i].size())] = numbers[i];
  return named;
}

Estimate* estimate(const Spec& spec, Rank ranks, Rank per_node, const Network& network, const NetworkCosts& costs) {
  require_hosts(ranks, per_node, network);
  const Shape shape = shape_to_schedule(spec, ranks, std::to_string(per_node));
  nb::gil_scoped_release release;
  return new Estimate{NetworkEstimate(spec, shape, routing_of(network, ranks, per_node), per_node), costs};
}

}  // namespace

void bind_estimates(nb::module_& m) {
  m.def("goal", &goal_of, "spec"_a, "ranks"_a, "rank"_a, "block_bytes"_a, "nodes"_a = "", "copying"_a = nb::none(),
        "The GOAL text of one rank, \"rank R { ... }\"; copies take no time if it is not said what they "
        "cost.\n"
        "\n"
        "Raises ValueError if the spec cannot serve so many ranks, or a block has no bytes.");
  m.def(
      "rounds",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        Told told;
        const std::string problem = report_rounds(spec, shape_to_count(spec, ranks, nodes), told);
        if (!problem.empty()) throw std::length_error(problem);
        return std::move(told.steps);
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "(blocks copied, pieces copied, sliding, rounds of messages (from, to, blocks)) of each step of all "
      "ranks.");
  nb::class_<NetworkCosts>(m, "NetworkCosts",
                           "What messages cost on a network: microseconds, and nanoseconds for a byte. See "
                           "tools/estimate/estimate.hpp.")
      .def(nb::init<>())
      .def_rw("between", &NetworkCosts::between,
              "message_us, latency_us, byte_ns and eager_bytes are its o, L, G and eager_bytes")
      .def_rw("hop_us", &NetworkCosts::hop_us)
      .def_rw("node_byte_ns", &NetworkCosts::node_byte_ns)
      .def_rw("link_byte_ns", &NetworkCosts::link_byte_ns)
      .def_rw("within_latency_us", &NetworkCosts::within_latency_us)
      .def_rw("within_byte_ns", &NetworkCosts::within_byte_ns)
      .def_rw("memory_byte_ns", &NetworkCosts::memory_byte_ns)
      .def_rw("contention", &NetworkCosts::contention)
      .def_rw("overlap", &NetworkCosts::overlap)
      .def_rw("copying", &NetworkCosts::copying)
      .def_rw("datatype", &NetworkCosts::datatype)
      .def_rw("datatype_us", &NetworkCosts::datatype_us)
      .def_rw("cache_bytes", &NetworkCosts::cache_bytes)
      .def_rw("call_us", &NetworkCosts::call_us)
      .def_prop_rw(
          "message_us", [](const NetworkCosts& c) { return c.between.overhead_us; },
          [](NetworkCosts& c, double value) { c.between.overhead_us = value; })
      .def_prop_rw(
          "latency_us", [](const NetworkCosts& c) { return c.between.latency_us; },
          [](NetworkCosts& c, double value) { c.between.latency_us = value; })
      .def_prop_rw(
          "byte_ns", [](const NetworkCosts& c) { return c.between.byte_ns; },
          [](NetworkCosts& c, double value) { c.between.byte_ns = value; })
      .def_prop_rw(
          "eager_bytes", [](const NetworkCosts& c) { return c.between.eager_bytes; },
          [](NetworkCosts& c, std::int64_t value) { c.between.eager_bytes = value; });
  nb::class_<LinkBound>(m, "LinkBound",
                        "What an all-to-all asks of links between switches, whoever passes blocks on. See "
                        "tools/network/link_bound.hpp.")
      .def_ro("blocks", &LinkBound::blocks, "Over capacity, of the busiest link between switches, at least.")
      .def_ro("cut", &LinkBound::cut, "The hosts on one side, if a cut gives the bound; else empty.")
      .def_ro("nearest_hops", &LinkBound::nearest_hops,
              "Links between the switches of two hosts that have ranks, at least.")
      .def_ro("host_links", &LinkBound::host_links, "The largest capacity of the links to a host.");
  nb::class_<LowerBound>(
      m, "LowerBound",
      "What no exchange can be faster than, in the model of NetworkEstimate. See tools/estimate/lower_bound.hpp.")
      .def_ro("us", &LowerBound::us)
      .def_ro("rounds", &LowerBound::rounds)
      .def_ro("messages", &LowerBound::messages, "Of a rank, where the least is.")
      .def_ro("blocks", &LowerBound::blocks, "In these messages.")
      .def_prop_ro(
          "alone_us", [](const LowerBound& b) { return by_name(b.alone_us); },
          "What call, latency, messages, nic, links and memory each demand of every exchange.")
      .def_prop_ro(
          "parts_us", [](const LowerBound& b) { return by_name(b.parts_us); }, "What they take where the least is.")
      .def_prop_ro(
          "binding", [](const LowerBound& b) { return std::string(limit_names[static_cast<std::size_t>(b.binding)]); },
          "The name of the largest part.");
  m.def("link_bound", &bound_links, "network"_a, "ranks"_a, "per_node"_a = 1,
        "The least that the busiest link between switches carries. Rank r is on host r // per_node.\n"
        "\n"
        "Raises ValueError if the network is too small.");
  m.def("lower_bound", &bound_time, "ranks"_a, "per_node"_a, "links"_a, "costs"_a, "block_bytes"_a, "ports"_a = 0,
        "balanced"_a = false,
        "What no exchange can be faster than.\n"
        "\n"
        "`ports`: messages of a rank in a round at most, each way; 0: any number. `balanced`: only exchanges "
        "in which no rank\n"
        "receives more than P - 1 blocks in a round, as where all ranks do alike.");
  m.def("least_blocks", &least_blocks, "ranks"_a, "rounds"_a, "messages"_a,
        "Blocks that a rank sends at least, on average, in so many rounds and messages; inf where they do "
        "not suffice.");
  nb::class_<Estimate>(
      m, "NetworkEstimate",
      "The load that an exchange puts on a network, for any size of a block. Rank r is on host r // "
      "per_node.\n"
      "\n"
      "Raises ValueError if the spec cannot serve the ranks, the network is too small for them, or ranks "
      "that are not\n"
      "alike have too many messages to be looked at.")
      .def(nb::new_(&estimate), "spec"_a, "ranks"_a, "per_node"_a, "network"_a, "costs"_a)
      .def(
          "time_us",
          [](const Estimate& e, std::int64_t block_bytes, const std::optional<NetworkCosts>& costs) {
            if (block_bytes < 0) throw std::invalid_argument("no block has a negative size");
            return e.time_us(block_bytes, costs ? *costs : e.costs);
          },
          "block_bytes"_a, "costs"_a = nb::none(),
          "Microseconds for blocks of so many bytes; by other costs than those that it was made with.")
      .def_prop_ro(
          "messages", [](const Estimate& e) { return e.messages(); }, "Of all ranks.")
      .def_prop_ro(
          "operations", [](const Estimate& e) { return e.operations(); },
          "Messages looked at and links added to: what it took to compute, on any machine.")
      .def_prop_ro(
          "rounds",
          [](const Estimate& e) {
            std::vector<std::size_t> rounds;
            for (const StepLoad& step : e.steps()) rounds.push_back(step.rounds.size());
            return rounds;
          },
          "Of each step.");
}

}  // namespace swapmeet
