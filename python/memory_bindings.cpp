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
#include "choose/memory_store.hpp"
#include "evidence/file.hpp"
#include "evidence/line.hpp"
#include "evidence/merge.hpp"
#include "evidence/signatures.hpp"
#include "schedule/names.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

std::tuple<std::int64_t, std::int64_t> bounds(const Range& range) { return {range.least, range.most}; }

void make_evidence(Evidence* place, Collective collective, Rank ranks, std::int32_t nodes,
                   std::tuple<Rank, Rank> per_node, std::int32_t size_class, const Spec& spec, std::int64_t calls,
                   double mean_s, double spread_s, std::string_view by, std::int64_t date, std::int64_t made,
                   std::uint64_t program) {
  const auto measurer = named<Measurer>(by, measurer_names);
  if (!measurer || *measurer == Measurer::user) throw std::invalid_argument("by: model, calibration, trial or tune");
  const CallKind kind{collective, ranks, nodes, std::get<0>(per_node), std::get<1>(per_node), size_class};
  new (place) Evidence(kind, spec, calls, mean_s, spread_s, *measurer, date, {made, program});
}

void bind_records(nb::module_& m) {
  nb::class_<Evidence>(m, "Evidence", "A measured time, or a rule of a tuning file (src/evidence/evidence.hpp).")
      .def("__init__", &make_evidence, "collective"_a, "ranks"_a, "nodes"_a, "per_node"_a, "size_class"_a, "spec"_a,
           "calls"_a, "mean_s"_a, "spread_s"_a, "by"_a = "trial", "date"_a = 0, "made"_a = 0, "program"_a = 0)
      .def(
          "__init__",
          [](Evidence* place, const CallKind& kind, const Spec& spec, std::int64_t calls, double mean_s,
             double spread_s, Measurer by, std::int64_t date,
             std::int64_t made) { new (place) Evidence(kind, spec, calls, mean_s, spread_s, by, date, {made}); },
          "kind"_a, "spec"_a, "calls"_a, "mean_s"_a, "spread_s"_a, "by"_a = Measurer::trial, "date"_a = 0, "made"_a = 0)
      .def_prop_ro("kind", &Evidence::kind)
      .def_ro("collective", &Evidence::collective)
      .def_prop_ro(
          "ranks", [](const Evidence& e) { return e.ranks.least; }, "The least, of a rule.")
      .def_prop_ro(
          "nodes", [](const Evidence& e) { return e.nodes.least; }, "The least, of a rule.")
      .def_prop_ro(
          "rank_range", [](const Evidence& e) { return bounds(e.ranks); }, "(least, most), both included.")
      .def_prop_ro("node_range", [](const Evidence& e) { return bounds(e.nodes); })
      .def_prop_ro(
          "per_node", [](const Evidence& e) { return bounds(e.per_node); },
          "Ranks of the node that has the fewest, and the most.")
      .def_prop_ro(
          "bytes", [](const Evidence& e) { return bounds(e.bytes); }, "Sizes of blocks: (least, most).")
      .def_prop_ro("size_class", &Evidence::size_class, "k: blocks of about 2**k bytes; -1: unknown.")
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
      .def_ro("origin", &Evidence::origin, "Where a rule is in its file.")
      .def_prop_ro("line", &evidence_line, "As a file has it.")
      .def_prop_ro("plausible", &plausible);
  m.def(
      "parse_evidence",
      [](std::string_view text) {
        Lines line(text);
        if (!line.next(false)) throw std::invalid_argument("an empty line");
        return value_or_raise(parse_evidence(line));
      },
      "line"_a, "Read a line of a file of memory or a tuning file; ValueError with column and reason if it is none.");
  m.def("block_class", &block_class, "block_bytes"_a);
  m.def("bytes_of_class", [](std::int32_t size_class) { return bounds(bytes_of_class(size_class)); }, "size_class"_a);
  m.def(
      "kind_of",
      [](Collective collective, Rank ranks, std::string_view nodes) {
        const CallKind kind = kind_of(collective, shape_of(ranks, nodes), 0);
        return std::make_tuple(kind.nodes, kind.least_per_node, kind.most_per_node);
      },
      "collective"_a, "ranks"_a, "nodes"_a = "", "Nodes, ranks of the smallest, ranks of the largest.");
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

void bind_evidence(nb::module_& m) {
  bind_records(m);
  nb::class_<EvidenceKey>(m, "MemoryKey", "What evidence holds for.")
      .def(nb::init<std::string, std::string, std::string>(), "mpi"_a, "machine"_a, "library"_a)
      .def("__eq__", &equals<EvidenceKey>)
      .def_ro("mpi", &EvidenceKey::mpi)
      .def_ro("machine", &EvidenceKey::machine)
      .def_ro("library", &EvidenceKey::library)
      .def_prop_ro("file_name", &EvidenceKey::file_name);
  nb::class_<EvidenceFile>(m, "EvidenceFile", "A file of memory, or a tuning file, that was read.")
      .def_ro("file", &EvidenceFile::name, "Empty: no file.")
      .def_ro("key", &EvidenceFile::key)
      .def_prop_ro("mpi", [](const EvidenceFile& f) { return f.key.mpi; })
      .def_prop_ro("machine", [](const EvidenceFile& f) { return f.key.machine; })
      .def_ro("evidence", &EvidenceFile::evidence)
      .def_ro("rules", &EvidenceFile::evidence, "The evidence of a tuning file.")
      .def_prop_ro("fingerprint", &EvidenceFile::fingerprint, "The same for files with the same rules.")
      .def_ro("lines", &EvidenceFile::lines)
      .def_ro("unusable", &EvidenceFile::unusable, "Lines that say nothing that can be true.")
      .def_prop_ro(
          "problem", [](const EvidenceFile& f) { return f.unusable > 0 ? f.first.text() : std::string(); },
          "Of the first of these.");
  m.def(
      "parse_memory", [](std::string_view text) { return value_or_raise(parse_memory(text)); }, "text"_a,
      "Read a file of memory; ValueError with line and reason if it is none.");
  m.def(
      "parse_tuning", [](std::string_view text) { return value_or_raise(parse_tuning(text)); }, "text"_a,
      "Read what a tuning file says; ValueError with line and reason if it is none.");
  m.def(
      "find_tuning",
      [](const std::string& named, const std::string& mpi) {
        std::vector<std::string> problems;
        EvidenceFile tuning = find_tuning(named, mpi, problems);
        return std::make_tuple(std::move(tuning), std::move(problems));
      },
      "named"_a, "mpi"_a, "The file that the library would use, and what is wrong with those before it.");
  m.def("standard_tuning_files", &standard_tuning_files, "kind"_a,
        "Where a file for an MPI of that kind is looked for, the first one first.");
  m.def("machine_signature", &machine_signature, "The processor and how many cores of it this machine has.");
  m.def("mpi_signature", &mpi_signature, "library_version"_a,
        "As in \"openmpi 5.0.11\", of what MPI_Get_library_version() says; empty for others.");
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
}

void bind_memory(nb::module_& m) {
  nb::class_<MemoryStore>(m, "MemoryStore", "What a process remembers of earlier runs, and adds.")
      .def(nb::init<>())
      .def("begin", &MemoryStore::begin, "options"_a, "mpi"_a, "library"_a, "usual_places"_a = true)
      .def(
          "recall", [](MemoryStore& s, Rank ranks) { return parse_recalled(s.recall(ranks)->text); }, "ranks"_a)
      .def("remember", &MemoryStore::remember, "evidence"_a)
      .def("made", &MemoryStore::made, "kind"_a, "calls"_a, "A communicator that ends has made so many such calls.")
      .def("write", &MemoryStore::write)
      .def("take_problem", &MemoryStore::take_problem)
      .def_prop_ro("file", &MemoryStore::file);
}

}  // namespace swapmeet
