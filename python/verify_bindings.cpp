/// The verifier, exchanges with neighbours, and certificates.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "bindings.hpp"
#include "algorithms/neighbours.hpp"
#include "model/neighbour_work.hpp"
#include "proofs/certificate.hpp"
#include "proofs/neighbours.hpp"
#include "search/search.hpp"
#include "proofs/checks.hpp"
#include "proofs/symmetry.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

Verdict verify_spec(const Spec& spec, Rank ranks, std::optional<Progress> progress, std::string_view nodes) {
  const Shape shape = shape_to_schedule(spec, ranks, nodes);
  nb::gil_scoped_release release;
  return verify(spec, shape,
                progress ? Progress([&](double done) {
                  nb::gil_scoped_acquire acquire;
                  if (PyErr_CheckSignals() != 0) throw nb::python_error();  // Ctrl-C
                  return (*progress)(done);
                })
                         : Progress{});
}

/// The memory that verify() needs for a direct exchange, in bytes.
std::int64_t verify_memory_bytes(std::int64_t ranks) {
  return ranks * ranks *
         (2 * sizeof(Message) + 2 * sizeof(Run) + 3 * sizeof(std::uint32_t) + 2 * sizeof(std::int64_t) + 16);
}

Verdict verify_symmetric_spec(const Spec& spec, Rank ranks, std::string_view nodes) {
  const Shape shape = shape_of(ranks, nodes);
  require_schedule(spec, shape);
  nb::gil_scoped_release release;
  return verify_symmetric(spec, shape);
}

Verdict verify_symmetric_schedules(const std::vector<Schedule>& sample, const std::vector<std::int32_t>& sizes) {
  std::int64_t ranks = 1;
  for (const std::int32_t size : sizes)
    if (size < 1 || (ranks *= size) > INT32_MAX) throw std::invalid_argument("the sizes do not make a number of ranks");
  return verify_symmetric(sample, sizes);
}

Neighbourhood neighbourhood_of(Rank ranks, Rank rank, std::vector<Rank> to, std::vector<Rank> from, bool grid) {
  shape_of(ranks);
  if (rank < 0 || rank >= ranks) throw std::invalid_argument("the rank does not exist");
  for (const auto* const list : {&to, &from})
    if (std::ranges::any_of(*list, [&](Rank peer) { return peer < nobody || peer >= ranks; }))
      throw std::invalid_argument("a neighbour does not exist");
  if (grid && (to != from || to.size() % 2 != 0))
    throw std::invalid_argument("a grid has two neighbours in each dimension, to and from whom blocks go");
  return {ranks, rank, std::move(to), std::move(from), grid};
}

/// What make(surroundings, rank) makes of each rank, where `all` are the neighbourhoods of all ranks.
template <class Make>
auto for_neighbours(const Spec& spec, const std::vector<Neighbourhood>& all, std::string_view nodes, Make make) {
  std::string problem = unsuitable_for_neighbours(spec);
  if (spec.family == Family::native) problem = "the host MPI has no schedule";
  if (!problem.empty()) throw std::invalid_argument(problem);
  std::vector<decltype(make(NodeNeighbourhoods{}, 0))> made;
  for_each_surroundings(all, nodes, [&](const NodeNeighbourhoods& its, Rank rank) { made.push_back(make(its, rank)); });
  return made;
}

std::vector<Schedule> schedules_for_neighbours(const Spec& spec, const std::vector<Neighbourhood>& all,
                                               std::string_view nodes) {
  return for_neighbours(spec, all, nodes,
                        [&](const NodeNeighbourhoods& s, Rank rank) { return generate(spec, s, rank); });
}

std::vector<Flow> flows_for_neighbours(const Spec& spec, const std::vector<Neighbourhood>& all,
                                       std::string_view nodes) {
  return for_neighbours(spec, all, nodes, [&](const NodeNeighbourhoods& s, Rank rank) { return flow(spec, s, rank); });
}

Work work_for_neighbours(const Spec& spec, const std::vector<Neighbourhood>& all, std::string_view nodes) {
  const auto ranks = static_cast<Rank>(all.size());
  const Nodes layout(shape_of(ranks, nodes));
  std::vector<double> most, sums;
  const auto part_of = [&](const NodeNeighbourhoods& its, Rank rank) {
    return neighbour_part(slot_flow(spec, its, rank), layout);
  };
  for (const NeighbourPart& part : for_neighbours(spec, all, nodes, part_of)) {
    most.resize(part.most.size());
    sums.resize(part.sent.size());
    std::ranges::transform(most, part.most, most.begin(), [](double a, double b) { return std::max(a, b); });
    std::ranges::transform(sums, part.sent, sums.begin(), std::plus());
  }
  return neighbour_work(most, sums, ranks, layout.count(), spec.intra != Transport::mpi);
}

std::pair<Verdict, std::int64_t> search(const std::vector<Schedule>& schedules, std::int64_t most_states) {
  std::int64_t states = 0;
  Verdict verdict = search_orders(schedules, most_states, states);
  return {std::move(verdict), states};
}

}  // namespace

void bind_verifier(nb::module_& m) {
  nb::class_<Verdict>(m, "Verdict", "What the verifier found.")
      .def_ro("findings", &Verdict::findings, "What is wrong, at most 8; empty: proved.")
      .def_ro("messages", &Verdict::messages, "Of all ranks.")
      .def_ro("blocks", &Verdict::blocks, "In all messages.")
      .def_prop_ro("proved", &Verdict::proved, "Whether nothing was found.");
  m.def("verify", &verify_spec, "spec"_a, "ranks"_a, "progress"_a = nb::none(), "nodes"_a = "",
        "Verify all ranks of a spec; `progress` gets the fraction done and returns False to give up.");
  m.def(
      "verify_schedules", [](const std::vector<Schedule>& s) { return verify(s); }, "schedules"_a,
      "Verify schedules, one for each rank in order.");
  m.def(
      "verify_flows", [](const std::vector<Flow>& flows) { return verify_flows(flows); }, "flows"_a,
      "Verify what is executed for blocks of unequal size, whatever the sizes: a flow of each rank in "
      "order.");
  nb::class_<Neighbourhood>(
      m, "Neighbourhood",
      "The neighbours of one rank in a virtual topology: to whom it sends its blocks, and from whom it "
      "receives.")
      .def(
          "__init__",
          [](Neighbourhood* self, Rank ranks, Rank rank, std::vector<Rank> to, std::vector<Rank> from, bool grid) {
            new (self) Neighbourhood(neighbourhood_of(ranks, rank, std::move(to), std::move(from), grid));
          },
          "ranks"_a, "rank"_a, "to"_a, "from_"_a, "grid"_a = false,
          "`to`, `from_`: by block, -1 where there is none; of a grid two for each dimension.");
  m.def(
      "schedules_for_neighbours", &schedules_for_neighbours, "spec"_a, "neighbourhoods"_a, "nodes"_a = "",
      "The schedules of all ranks of an exchange with neighbours: a neighbourhood of each rank in order; `nodes` as of "
      "generate().");
  m.def("flows_for_neighbours", &flows_for_neighbours, "spec"_a, "neighbourhoods"_a, "nodes"_a = "",
        "What travels in it, whatever the sizes of blocks.");
  m.def("work_for_neighbours", &work_for_neighbours, "spec"_a, "neighbourhoods"_a, "nodes"_a = "",
        "The work that trials are chosen by: the most of any rank, and of a node its share of what is sent.");
  m.def(
      "verify_neighbours",
      [](const std::vector<Schedule>& schedules, const std::vector<Neighbourhood>& neighbourhoods) {
        return verify_neighbours(schedules, neighbourhoods);
      },
      "schedules"_a, "neighbourhoods"_a,
      "Verify an exchange with neighbours: a schedule and a neighbourhood of each rank in order.");
  m.def(
      "verify_neighbour_flows",
      [](const std::vector<Flow>& flows, const std::vector<Neighbourhood>& neighbourhoods) {
        return verify_neighbours(flows, neighbourhoods);
      },
      "flows"_a, "neighbourhoods"_a,
      "The same of what is executed for blocks of unequal size, whatever the sizes: a flow of each rank in order.");
  m.def("verify_symmetric", &verify_symmetric_spec, "spec"_a, "ranks"_a, "nodes"_a = "",
        "Verify a spec that looks alike from every rank, from the schedules of a few ranks; a finding if it "
        "does not.");
  m.def("verify_symmetric_schedules", &verify_symmetric_schedules, "sample"_a, "sizes"_a,
        "Verify the schedules of some ranks on a grid of `sizes`, all other ranks taken to behave alike.");
  m.def("verify_memory_bytes", &verify_memory_bytes, "ranks"_a, "Memory that verify() needs, in bytes.");
  m.def("search_orders", &search, "schedules"_a, "most_states"_a = 1000000,
        "Walk through every order of completion; returns the verdict and the number of states seen.");
}

void bind_certificates(nb::module_& m) {
  using Bounds = ExchangeBounds;
  nb::class_<Bounds>(m, "Bounds", "What a rank, or all ranks of a node, hold at most at a time, in every execution.")
      .def_ro("requests", &Bounds::requests, "Sends and receives outstanding.")
      .def_ro("peers", &Bounds::peers, "Ranks that messages go to or come from.")
      .def_ro("early_messages", &Bounds::early_messages,
              "Messages that have arrived while their receives are not posted.")
      .def_ro("early_blocks", &Bounds::early_blocks, "Blocks in such messages.")
      .def_ro("scratch_blocks", &Bounds::scratch_blocks, "Working memory.")
      .def("early_bytes", &early_bytes, "block_bytes"_a,
           "Room that early messages may take, in bytes: each at most 64 KiB, with its entry in a queue.");
  nb::class_<Certificate>(m, "Certificate", "What an exchange holds at most.")
      .def_ro("rank", &Certificate::rank, "Of the rank that has most, each number by itself.")
      .def_ro("node", &Certificate::node, "Summed over the ranks of a node.")
      .def_ro("exact", &Certificate::exact, "Whether some execution reaches each number of `rank` but scratch_blocks.");
  m.def(
      "certify",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        const Shape shape = shape_to_schedule(spec, ranks, nodes);
        nb::gil_scoped_release release;
        return certify(spec, shape);
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "Exact bounds where these are found in less than a second, else ceiling().\n"
      "\n"
      "Raises ValueError if the spec cannot serve so many ranks.");
  m.def(
      "certify_schedules",
      [](const std::vector<Schedule>& schedules, std::string_view nodes) {
        return certify(schedules, shape_of(static_cast<Rank>(schedules.size()), nodes));
      },
      "schedules"_a, "nodes"_a = "", "Exact bounds of verified schedules, one for each rank in order.");
  m.def(
      "ceiling",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        return certified_ceiling(spec, shape_to_count(spec, ranks, nodes));
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "Upper bounds in closed form, good for any number of ranks.\n"
      "\n"
      "Raises ValueError if the spec cannot serve so many ranks.");
  nb::class_<UnequalBounds>(m, "UnequalBounds", "What a rank holds at most where blocks have unequal sizes.")
      .def_ro("rank", &UnequalBounds::rank, "Blocks count as the largest.")
      .def_ro("early_sums", &UnequalBounds::early_sums,
              "Early bytes are at most so many times the most that any rank sends, or receives.");
  m.def(
      "ceiling_of_unequal",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        return certified_unequal(spec, shape_to_count(spec, ranks, nodes));
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "Upper bounds of blocks of unequal size, for any number of ranks: none empty, or ranks agree on sizes.\n"
      "\n"
      "Raises ValueError if the spec cannot serve so many ranks.");
}

}  // namespace swapmeet
