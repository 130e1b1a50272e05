/// Evidence between runs, for `swapmeet tuning` and for tests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "choose/family.hpp"
#include "choose/memory.hpp"
#include "choose/memory_store.hpp"
#include "schedule/names.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

void make_evidence(Evidence* place, Collective collective, Rank ranks, std::int32_t nodes,
                   std::tuple<Rank, Rank> per_node, std::int32_t size_class, const Spec& spec, std::int64_t calls,
                   double mean_s, double spread_s, std::string_view by, std::int64_t date, std::int64_t made,
                   std::uint64_t program) {
  const auto measurer = named<Measurer>(by, measurer_names);
  if (!measurer) throw std::invalid_argument("by: model, calibration, trial or tune");
  new (place) Evidence{{collective, ranks, nodes, std::get<0>(per_node), std::get<1>(per_node), size_class},
                       spec,
                       calls,
                       mean_s,
                       spread_s,
                       *measurer,
                       date,
                       {made, program}};
}

void bind_evidence(nb::module_& m) {
  nb::class_<Evidence>(m, "Evidence", "The time of one spec for calls of one kind (src/choose/evidence.hpp).")
      .def("__init__", &make_evidence, "collective"_a, "ranks"_a, "nodes"_a, "per_node"_a, "size_class"_a, "spec"_a,
           "calls"_a, "mean_s"_a, "spread_s"_a, "by"_a = "trial", "date"_a = 0, "made"_a = 0, "program"_a = 0)
      .def(
          "__init__",
          [](Evidence* place, const CallKind& kind, const Spec& spec, std::int64_t calls, double mean_s,
             double spread_s, Measurer by, std::int64_t date,
             std::int64_t made) { new (place) Evidence{kind, spec, calls, mean_s, spread_s, by, date, {made}}; },
          "kind"_a, "spec"_a, "calls"_a, "mean_s"_a, "spread_s"_a, "by"_a = Measurer::trial, "date"_a = 0, "made"_a = 0)
      .def_ro("kind", &Evidence::kind)
      .def_prop_ro("collective", [](const Evidence& e) { return e.kind.collective; })
      .def_prop_ro("ranks", [](const Evidence& e) { return e.kind.ranks; })
      .def_prop_ro("nodes", [](const Evidence& e) { return e.kind.nodes; })
      .def_prop_ro(
          "per_node", [](const Evidence& e) { return std::make_tuple(e.kind.least_per_node, e.kind.most_per_node); },
          "Ranks of the node that has the fewest, and the most.")
      .def_prop_ro(
          "size_class", [](const Evidence& e) { return e.kind.size_class; },
          "k: blocks of about 2**k bytes; -1: unknown.")
      .def_ro("spec", &Evidence::spec)
      .def_ro("calls", &Evidence::calls)
      .def_ro("mean_s", &Evidence::mean_s)
      .def_ro("spread_s", &Evidence::spread_s, "Standard deviation of the mean.")
      .def_prop_ro("by", [](const Evidence& e) { return measurer_names[static_cast<std::size_t>(e.by)]; })
      .def_ro("date", &Evidence::date, "Seconds since 1970.")
      .def_prop_ro(
          "made", [](const Evidence& e) { return e.made.calls; },
          "Such calls on each communicator of the last run, at least; 0: not known.")
      .def_prop_ro(
          "program", [](const Evidence& e) { return e.made.program; }, "That made them: program_number().")
      .def_prop_ro("line", &evidence_line, "As a file of memory has it.")
      .def_prop_ro("plausible", &plausible);
  m.def(
      "parse_evidence", [](std::string_view line) { return value_or_raise(parse_evidence(line)); }, "line"_a,
      "Read a line of a file of memory; ValueError with column and reason if it is none.");
  m.def("block_class", &block_class, "block_bytes"_a);
  m.def(
      "bytes_of_class",
      [](std::int32_t size_class) {
        const Range range = bytes_of_class(size_class);
        return std::make_tuple(range.least, range.most);
      },
      "size_class"_a);
  m.def(
      "kind_of",
      [](Collective collective, Rank ranks, std::string_view nodes) {
        const CallKind kind = kind_of(collective, shape_of(ranks, nodes), 0);
        return std::make_tuple(kind.nodes, kind.least_per_node, kind.most_per_node);
      },
      "collective"_a, "ranks"_a, "nodes"_a = "", "Nodes, ranks of the smallest, ranks of the largest.");
  m.def("rules_of", &rules_of, "evidence"_a, "Rules that evidence is enough for.");
  m.def("usable", &usable, "evidence"_a, "What a choice may rest on: evidence of calls on several nodes.");
  m.def(
      "merged",
      [](std::vector<Evidence> evidence) {
        std::vector<Evidence> all;
        for (const Evidence& one : evidence) merge(all, one);
        keep_within_bounds(all);
        return all;
      },
      "evidence"_a, "One of each kind, spec and measurer, within the bounds of a file.");
}

}  // namespace

void bind_memory(nb::module_& m) {
  bind_evidence(m);
  nb::class_<MemoryKey>(m, "MemoryKey", "What evidence holds for.")
      .def(nb::init<std::string, std::string, std::string>(), "mpi"_a, "machine"_a, "library"_a)
      .def("__eq__", &equals<MemoryKey>)
      .def_ro("mpi", &MemoryKey::mpi)
      .def_ro("machine", &MemoryKey::machine)
      .def_ro("library", &MemoryKey::library)
      .def_prop_ro("file_name", &MemoryKey::file_name);
  nb::class_<Remembered>(m, "Remembered", "A file of memory that was read.")
      .def_ro("key", &Remembered::key)
      .def_ro("evidence", &Remembered::evidence)
      .def_ro("lines", &Remembered::lines)
      .def_ro("unusable", &Remembered::unusable, "Lines that say nothing that can be true.")
      .def_prop_ro(
          "problem", [](const Remembered& r) { return r.unusable > 0 ? r.first.text() : std::string(); },
          "Of the first of these.");
  m.def(
      "parse_memory", [](std::string_view text) { return value_or_raise(parse_memory(text)); }, "text"_a,
      "Read a file of memory; ValueError with line and reason if it is none.");
  m.def("memory_text", &memory_text, "key"_a, "evidence"_a);
  m.def("memory_folder", &memory_folder, "Where the user's files are; empty: there is no such place.");
  m.def("site_memory_folders", &site_memory_folders);
  m.def("program_number", &program_number, "Of the command line of this process.");
  m.def("cluster_signature", &cluster_signature, "The machine, as files of memory name it.");
  m.def("host_class", &host_class, "host"_a);
  m.def("add_to_memory", &add_to_memory, "file"_a, "key"_a, "evidence"_a, "replace_other"_a = false,
        "Merge evidence into a file; empty, or why not.");
  m.def("change_memory", &change_memory, "file"_a, "change"_a,
        "Replace the evidence of a file by what is made of it; empty, or why not.");
  nb::class_<MemoryStore>(m, "MemoryStore", "What a process remembers of earlier runs, and adds.")
      .def(nb::init<>())
      .def("begin", &MemoryStore::begin, "options"_a, "mpi"_a, "library"_a, "usual_places"_a = true)
      .def(
          "recall", [](MemoryStore& s, Rank ranks) { return parse_recalled(s.recall(ranks).text); }, "ranks"_a)
      .def("remember", &MemoryStore::remember, "evidence"_a)
      .def("made", &MemoryStore::made, "kind"_a, "calls"_a, "A communicator that ends has made so many such calls.")
      .def("write", &MemoryStore::write)
      .def("take_problem", &MemoryStore::take_problem)
      .def_prop_ro("file", &MemoryStore::file);
}

}  // namespace swapmeet
