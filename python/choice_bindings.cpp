/// Python's view of the choice: options, rules, tuning files, and what each spec is expected to take.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "choose/limits.hpp"
#include "choose/select.hpp"
#include "options/options.hpp"
#include "proofs/scratch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

Options options_from(const std::vector<std::string>& environment, Rank world_ranks, const std::string& mpi) {
  std::vector<const char*> entries;
  for (const std::string& entry : environment) entries.push_back(entry.c_str());
  entries.push_back(nullptr);
  Options options = read_options(entries.data(), world_ranks);
  if (!mpi.empty()) read_tuning_for(mpi, options);
  return options;
}

}  // namespace

void bind_choice(nb::module_& m) {
  nb::enum_<Collective>(m, "Collective", "Which call is served.")
      .value("alltoall", Collective::alltoall)
      .value("alltoallv", Collective::alltoallv)
      .value("alltoallw", Collective::alltoallw);
  nb::enum_<Measurer>(m, "Measurer", "Who measured; a later one outranks those before it.")
      .value("model", Measurer::model)
      .value("calibration", Measurer::calibration)
      .value("trial", Measurer::trial)
      .value("tune", Measurer::tune);
  nb::class_<CallKind>(m, "CallKind", "Calls for which one choice is made.")
      .def(
          "__init__",
          [](CallKind* self, Collective collective, Rank ranks, std::int64_t block_bytes, std::string_view nodes) {
            new (self) CallKind(kind_of(collective, shape_of(ranks, nodes), block_class(block_bytes)));
          },
          "collective"_a, "ranks"_a, "block_bytes"_a, "nodes"_a = "")
      .def_rw("size_class", &CallKind::size_class)
      .def_ro("nodes", &CallKind::nodes)
      .def("__eq__", &equals<CallKind>);
  bind_evidence(m);
  nb::class_<Options>(m, "Options", "The library's options, as read from an environment.")
      .def_ro("problems", &Options::problems, "A sentence for each value that could not be used.")
      .def_ro("explain", &Options::explain, "SWAPMEET_EXPLAIN.")
      .def_ro("statistics", &Options::statistics, "Calls are counted.")
      .def_ro("statistics_table", &Options::statistics_table, "SWAPMEET_STATS=1.")
      .def_ro("statistics_file", &Options::statistics_file, "Of SWAPMEET_STATS; '': none.")
      .def_ro("statistics_log", &Options::statistics_log, "'': SWAPMEET_STATS_LOG is off.")
      .def_ro("record_file", &Options::record_file, "'': SWAPMEET_RECORD is off.")
      .def_ro("nodes", &Options::nodes, "A node map; \"\" to ask MPI.")
      .def_ro("scratch_limit_bytes", &Options::scratch_limit_bytes, "SWAPMEET_SCRATCH_LIMIT.")
      .def_prop_ro(
          "algorithm", [](const Options& o) { return o.algorithm; }, "SWAPMEET_ALGORITHM; None: the automatic choice.")
      .def_ro("tuning", &Options::tuning, "The tuning file that counts, if read_options() was told the MPI.")
      .def_ro("memory", &Options::memory)
      .def_ro("trials_share", &Options::trials_share, "Of the time of all-to-alls, that trials may cost; 0: none.")
      .def_prop_ro("fingerprint", &Options::fingerprint, "The same on two ranks exactly if their choices will be.");
  m.def("read_options", &options_from, "environment"_a, "world_ranks"_a = 1, "mpi"_a = "",
        "Read options from a list of 'NAME=value', of a job of so many ranks; with the tuning file for "
        "`mpi`, if given.");
  m.def(
      "option_table",
      [] {
        std::vector<std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>> rows;
        for (const Option& o : option_table()) rows.emplace_back(o.name, o.type, o.standard, o.meaning);
        return rows;
      },
      "(name, type, default, meaning) of each option.");
  bind_memory(m);
  nb::class_<Expectation>(m, "Expectation", "What a spec is expected to take (src/choose/expectation.hpp).")
      .def_ro("spec", &Expectation::spec)
      .def_prop_ro("seconds", &Expectation::seconds)
      .def_prop_ro(
          "deviation", [](const Expectation& one) { return one.time.deviation; }, "Of the logarithm.")
      .def_ro("price_s", &Expectation::price_s)
      .def_ro("calls", &Expectation::calls)
      .def_ro("by", &Expectation::by)
      .def_ro("date", &Expectation::date)
      .def_prop_ro("basis", &basis, "As in \"by the model\" or \"3 calls of this run\".");
  nb::class_<MeasuredNetwork>(m, "MeasuredNetwork",
                              "What messages between nodes and copies take (src/choose/description.hpp).")
      .def(
          "__init__",
          [](MeasuredNetwork* self, double start_us, double message_us, double byte_ns, double piece_us,
             double copy_ns) { new (self) MeasuredNetwork{start_us, message_us, byte_ns, piece_us, copy_ns}; },
          "start_us"_a, "message_us"_a = -1.0, "byte_ns"_a = -1.0, "piece_us"_a = -1.0, "copy_ns"_a = -1.0);
  nb::class_<Knowledge>(
      m, "Knowledge",
      "What is known of the machine: its description, how far the model may be off by it, and evidence.")
      .def(
          "__init__",
          [](Knowledge* self, const std::optional<Machine>& machine, double common, double own,
             std::vector<Evidence> evidence) {
            new (self) Knowledge{machine ? *machine : standard_machine(), {common, own}, std::move(evidence)};
          },
          "machine"_a = nb::none(), "common"_a = Doubt{}.common, "own"_a = Doubt{}.own,
          "evidence"_a = std::vector<Evidence>{})
      .def_rw("evidence", &Knowledge::evidence)
      .def_rw("ranks_per_core", &Knowledge::ranks_per_core, "The most of any host.")
      .def(
          "describe", [](Knowledge& known, const MeasuredNetwork& network) { adopt_network(network, known); },
          "network"_a, "Prices rest on this network from now on.");
  m.def(
      "choose",
      [](Collective collective, Rank ranks, std::int64_t block_bytes, const Options& options, bool shared_memory,
         bool single_copy, const std::string& nodes, const Knowledge& knowledge) {
        const Means means{shared_memory, single_copy, "it is not to be had"};
        const Choice choice = choose(collective, shape_of(ranks, nodes), block_bytes, options, means, knowledge);
        return std::make_tuple(choice.spec, choice.reason, choice.most_bytes);
      },
      "collective"_a, "ranks"_a, "block_bytes"_a, "options"_a, "shared_memory"_a = true, "single_copy"_a = true,
      "nodes"_a = "", "knowledge"_a = Knowledge{},
      "(spec, reason, largest block in bytes with the same choice); ranks share a node unless `nodes` says "
      "otherwise.");
  m.def(
      "within_scratch_limit",
      [](const Spec& spec, Rank ranks, std::int64_t block_bytes, const Options& options, std::string_view nodes) {
        return within_scratch_limit(spec, shape_to_count(spec, ranks, nodes), block_bytes, options);
      },
      "spec"_a, "ranks"_a, "block_bytes"_a, "options"_a, "nodes"_a = "",
      "Whether an Alltoall that is not in place stays within SWAPMEET_SCRATCH_LIMIT; else the host MPI serves it.");
  m.attr("TOO_MUCH_MEMORY") = too_much_memory;
  m.def("give_up_order", &give_up_order, "spec"_a, "problem"_a, "options"_a, "knowledge"_a,
        "Take an order of the topology that cannot be had, and all that asks for it, out of options and evidence; "
        "returns "
        "a warning.");
  m.def(
      "candidates",
      [](Collective collective, Rank ranks, std::int64_t block_bytes, bool shared_memory, std::string_view nodes,
         const Options& options, const Knowledge& knowledge, const Spec& also) {
        return candidates(collective, shape_of(ranks, nodes), block_bytes, options,
                          Means{shared_memory, shared_memory, ""}, knowledge, also);
      },
      "collective"_a, "ranks"_a, "block_bytes"_a, "shared_memory"_a = true, "nodes"_a = "", "options"_a = Options{},
      "knowledge"_a = Knowledge{}, "also"_a = Spec{},
      "The host MPI, and what may be tried on the running application, within the limits of `options` (the "
      "defaults); and `also`.\n"
      "\n"
      "Ranks share a node unless `nodes` says otherwise.");
  m.def(
      "priced_specs",
      [](Collective collective, Rank ranks, std::string_view nodes, bool shared_memory, bool crowded) {
        const CallKind kind = kind_of(collective, shape_of(ranks, nodes), unknown_class);
        const PricedFamily family(kind, Means{shared_memory, shared_memory, ""}, standard_machine(), Model::max_rate,
                                  crowded);
        std::vector<Spec> specs;
        for (std::size_t point = 0; point < family.size(); ++point) specs.push_back(family.spec(point));
        return specs;
      },
      "collective"_a, "ranks"_a, "nodes"_a = "", "shared_memory"_a = true, "crowded"_a = false,
      "All specs that the automatic choice compares, but for those in evidence; `crowded`: ranks share cores.\n"
      "\n"
      "Some may be unsuitable for `nodes`: nodes of equal size are assumed.");
  m.def(
      "small_calls",
      [](Collective collective, Rank ranks, std::int64_t block_bytes, std::string_view nodes,
         const Knowledge& knowledge) {
        return host_time_in_small_calls(collective, shape_of(ranks, nodes), block_bytes, knowledge);
      },
      "collective"_a, "ranks"_a, "block_bytes"_a, "nodes"_a = "", "knowledge"_a = Knowledge{},
      "How many calls with the smallest blocks the host MPI is expected to make in the time of one such call.");
  m.def(
      "tries",
      [](Collective collective, Rank ranks, const Options& options, std::string_view nodes) {
        return tries(collective, shape_of(ranks, nodes), options);
      },
      "collective"_a, "ranks"_a, "options"_a, "nodes"_a = "",
      "Whether the running application tries candidates(): nobody asked for an algorithm, no file has "
      "rules.");
  m.def(
      "tuned",
      [](Collective collective, Rank ranks, const Options& options, std::string_view nodes) {
        return tuned(collective, shape_of(ranks, nodes), options);
      },
      "collective"_a, "ranks"_a, "options"_a, "nodes"_a = "", "Whether a tuning file has rules for such calls.");
}

}  // namespace swapmeet
