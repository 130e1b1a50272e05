/// Workloads: sizes of unequal blocks.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "workload/workload.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

Workload parse_workload(const std::string& text) {
  Workload workload;
  char message[400];
  if (text.find('\0') != text.npos) throw std::invalid_argument("a workload holds no null character");
  if (!workload_parse(text.c_str(), &workload, message, sizeof message)) throw std::invalid_argument(message);
  return workload;
}

template <auto share_of>
std::tuple<std::int64_t, std::int64_t, int> share(const Workload& workload, std::uint64_t seed, int ranks, int rank) {
  require_rank("rank", rank, ranks);
  const WorkloadShare share = share_of(&workload, seed, ranks, rank);
  return {share.bytes, share.largest_bytes, share.blocks};
}

std::vector<std::vector<std::int64_t>> workload_sizes(const Workload& workload, std::uint64_t seed, int ranks) {
  shape_of(ranks);
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(ranks));
  for (int source = 0; source < ranks; ++source)
    for (int destination = 0; destination < ranks; ++destination)
      rows[static_cast<std::size_t>(source)].push_back(workload_bytes(&workload, seed, ranks, source, destination));
  return rows;
}

}  // namespace

void bind_workloads(nb::module_& m) {
  nb::class_<Workload>(
      m, "Workload", "The sizes of the blocks of a non-uniform exchange. str() is its text, every parameter included.")
      .def_prop_ro(
          "kind", [](const Workload& w) { return workload_kind_name(w.kind); }, "One of workload_kinds().")
      .def_prop_ro("most_bytes", &workload_most_bytes, "No block is larger, for any seed.")
      .def(
          "bytes",
          [](const Workload& w, std::uint64_t seed, int ranks, int source, int destination) {
            require_rank("source", source, ranks);
            require_rank("destination", destination, ranks);
            return workload_bytes(&w, seed, ranks, source, destination);
          },
          "seed"_a, "ranks"_a, "source"_a, "destination"_a,
          "Size in bytes of the block that `source` sends to `destination`; ValueError if one is not a rank.")
      .def("sent", &share<workload_sent>, "seed"_a, "ranks"_a, "rank"_a,
           "(bytes, bytes of the largest block, blocks that are not empty) that a rank sends, its own included.")
      .def("received", &share<workload_received>, "seed"_a, "ranks"_a, "rank"_a,
           "(bytes, bytes of the largest block, blocks that are not empty) that a rank receives, its own "
           "included.")
      .def("__str__", [](const Workload& w) {
        char text[120];
        return std::string(workload_print(&w, text, sizeof text));
      });
  m.def("parse_workload", &parse_workload, "text"_a,
        "Read a workload such as 'uniform:max=1KiB'; ValueError says what was expected and in which column.\n"
        "\n"
        "Kinds, their parameters, the distributions and their sources: tools/workload/workload.h.");
  m.def("workload_sizes", &workload_sizes, "workload"_a, "seed"_a, "ranks"_a);
  m.def(
      "workload_sizes",
      [](const std::string& text, std::uint64_t seed, int ranks) {
        return workload_sizes(parse_workload(text), seed, ranks);
      },
      "workload"_a, "seed"_a, "ranks"_a,
      "The size of every block, the same for a seed on every machine.\n"
      "\n"
      "Parameters\n"
      "----------\n"
      "workload : Workload or its text\n"
      "seed : from 0 to 2**64 - 1\n"
      "ranks : P, at least 1\n"
      "\n"
      "Returns\n"
      "-------\n"
      "(P, P) nested lists, bytes\n"
      "    [source][destination]\n"
      "\n"
      "Raises\n"
      "------\n"
      "ValueError\n"
      "    If the text is no workload, or there is no rank.");
  m.def(
      "workload_kinds",
      [] {
        std::vector<std::string> names;
        for (int kind = 0; kind < WORKLOAD_KINDS; ++kind)
          names.emplace_back(workload_kind_name(static_cast<WorkloadKind>(kind)));
        return names;
      },
      "Names of the kinds of workloads.");
}

}  // namespace swapmeet
