/// What schedules cost: counts of equal and of unequal blocks.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bindings.hpp"
#include "model/counts.hpp"
#include "model/threshold.hpp"
#include "model/work.hpp"
#include "estimate/round_counts.hpp"
#include "estimate/varying_counts.hpp"
#include "options/options.hpp"
#include "proofs/scratch.hpp"
#include "topology/arrangement.hpp"
#include "workload/workload.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

using RoundRow = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::int64_t, std::int64_t>;

std::vector<RoundRow> rounds_of(const Spec& spec, Rank ranks, std::string_view nodes) {
  std::vector<RoundRow> rows;
  for (const RoundCounts& r : count_rounds(spec, shape_to_count(spec, ranks, nodes)))
    rows.emplace_back(r.dimension, r.digit, r.weight, r.value, r.messages, r.blocks);
  return rows;
}

/// What `swapmeet model` prints of a spec: counts, and what only readers need.
struct ShownCounts : Counts {
  std::vector<Radices> radices;
  std::int64_t batches = 0, grants = 0, scratch_blocks = 0;
};

ShownCounts counts_of(const Spec& spec, Rank ranks, std::string_view nodes) {
  const Shape shape = shape_to_count(spec, ranks, nodes);
  ShownCounts shown{count(spec, shape), {}};
  shown.scratch_blocks = scratch_ceiling(spec, shape);
  shown.radices.resize(shown.sizes.size());
  const std::vector<Radices> radices = spec.family == Family::bruck ? spec.radices : std::vector<Radices>{{Radix::all}};
  if (spec.family != Family::leaders)
    for (const Digit& digit : digits_along(radices, shown.sizes)) shown.radices[digit.dimension].push_back(digit.radix);
  Work work;
  count_work(spec, shape, Nodes(shape), work);
  for (const PhaseWork& phase : work.phases)
    if (phase.within.blocks + phase.between.blocks > 0)
      shown.batches += phase.batches;                                   // else messages that grant others
  if (spec.posting == Posting::granted) shown.grants = shown.messages;  // one for each receive
  return shown;
}

std::pair<double, double> forwarding_of(const Spec& spec, Rank ranks, std::string_view nodes) {
  const Shape shape = shape_of(ranks, nodes);
  if (spec.family != Family::native) require_schedule(spec, shape);
  const Forwarding cost = forwarding(spec, shape);
  return {cost.messages, cost.hops};
}

std::int64_t threshold_of(const std::vector<std::int64_t>& most, double messages, double hops) {
  if (most.size() > size_classes)
    throw std::invalid_argument("there are " + std::to_string(size_classes) + " classes of sizes");
  SizeClasses classes{};
  std::ranges::copy(most, classes.begin());
  return direct_threshold(classes, {messages, hops});
}

std::size_t class_of(std::int64_t bytes) {
  if (bytes < 0) throw std::invalid_argument("no block has a negative size");
  return size_class(bytes);
}

const std::int64_t standard_limit_bytes = Options{}.scratch_limit_bytes;
constexpr std::int64_t most_block_bytes = std::int64_t{1} << 40;  ///< as of workloads

bool within_limits_of(const Spec& spec, std::int64_t largest, std::int64_t bound) {
  return within({largest, spec.direct_bytes}, spec, bound);
}

VaryingCounter varying_counter(const Spec& spec, Rank ranks, std::string_view nodes) {
  if (const std::string problem = VaryingCounter::problem(spec, shape_of(ranks, nodes)); !problem.empty())
    throw std::invalid_argument(problem);
  const Shape shape = spec.family == Family::native ? shape_of(ranks, nodes) : shape_to_schedule(spec, ranks, nodes);
  nb::gil_scoped_release release;
  return VaryingCounter(spec, shape);
}

VaryingCounts count_sizes(const VaryingCounter& counter, const std::vector<std::vector<std::int64_t>>& rows,
                          std::int64_t limit) {
  std::vector<std::int64_t> sizes;
  const auto ranks = static_cast<std::size_t>(counter.ranks());
  if (rows.size() != ranks)
    throw std::invalid_argument("expected the sizes of the blocks of " + std::to_string(ranks) + " ranks");
  for (const std::vector<std::int64_t>& row : rows) {
    if (row.size() != ranks) throw std::invalid_argument("expected " + std::to_string(ranks) + " sizes of each rank");
    for (const std::int64_t bytes : row)
      if (bytes < 0 || bytes > most_block_bytes) throw std::invalid_argument("a block has from 0 to 2^40 bytes");
    sizes.insert(sizes.end(), row.begin(), row.end());
  }
  nb::gil_scoped_release release;
  return counter.count(sizes, limit);
}

VaryingCounts count_workload(const VaryingCounter& counter, const Workload& workload, std::uint64_t seed, double scale,
                             std::int64_t limit) {
  const double most = static_cast<double>(workload_most_bytes(&workload)) * scale;
  if (!(scale >= 0 && most <= static_cast<double>(most_block_bytes)))
    throw std::invalid_argument("a block has from 0 to 2^40 bytes");
  nb::gil_scoped_release release;
  std::vector<std::int64_t> sizes;
  sizes.reserve(static_cast<std::size_t>(counter.ranks()) * static_cast<std::size_t>(counter.ranks()));
  for (int source = 0; source < counter.ranks(); ++source)
    for (int destination = 0; destination < counter.ranks(); ++destination) {
      const std::int64_t bytes = workload_bytes(&workload, seed, counter.ranks(), source, destination);
      sizes.push_back(scale == 1 ? bytes : std::llround(static_cast<double>(bytes) * scale));
    }
  return counter.count(sizes, limit);
}

}  // namespace

void bind_model(nb::module_& m) {
  using Counts = ShownCounts;
  nb::class_<Counts>(m, "Counts", "What an exchange costs a rank.")
      .def_ro("sizes", &Counts::sizes, "Of the dimensions; of leaders: ranks of the largest node, nodes.")
      .def_ro("radices", &Counts::radices, "Of the digits of each dimension, least significant first.")
      .def_ro("messages", &Counts::messages, "That a rank sends: K.")
      .def_ro("blocks", &Counts::blocks, "In them: D.")
      .def_ro("grants", &Counts::grants, "Messages without data that a rank sends to grant others theirs.")
      .def_ro("batches", &Counts::batches, "Of messages in flight together, one after the other.")
      .def_ro("scratch_blocks", &Counts::scratch_blocks, "Room for so many blocks is enough.")
      .def_ro("ranks_differ", &Counts::ranks_differ,
              "Ranks differ (nodes are unequal, or some ranks lead): each number is the largest of any rank.");
  m.def("count", &counts_of, "spec"_a, "ranks"_a, "nodes"_a = "",
        "Messages, blocks and scratch of a rank, without making its schedule: closed forms, good for any P.\n"
        "\n"
        "Raises ValueError if the spec cannot serve so many ranks.");
  m.def("count_rounds", &rounds_of, "spec"_a, "ranks"_a, "nodes"_a = "",
        "(dimension, digit, weight, value, messages, blocks) of each round of a rank.\n"
        "\n"
        "Of leaders: (0, 0), (1, 0) and (0, 1) are dimension and digit of gather, exchange and scatter; "
        "values are positions.");
  m.def("size_class", &class_of, "bytes"_a,
        "The class of a block of so many bytes: 0 of empty ones, c of 2**(c-1) to 2**c - 1 bytes.");
  m.def("forwarding", &forwarding_of, "spec"_a, "ranks"_a, "nodes"_a = "",
        "(messages of a rank, those with sizes included; hops of a block on average) where blocks differ in "
        "size.");
  m.def("direct_threshold", &threshold_of, "counts_by_class"_a, "messages"_a, "hops"_a,
        "The largest block, in bytes, that a schedule of so many messages and hops passes on; 0: all are "
        "sent directly.\n"
        "\n"
        "Parameters\n"
        "----------\n"
        "counts_by_class : the most blocks of each class (see size_class) that any rank sends or receives");
  m.def("within", &within_limits_of, "spec"_a, "largest"_a, "bound"_a,
        "Whether the ranks may exchange blocks of at most `largest` bytes by such a spec, of which none may have more "
        "than "
        "`bound`; else the host MPI serves the call.");
}

void bind_varying_counts(nb::module_& m) {
  nb::class_<RankCounts>(m, "RankCounts", "What a rank sends and keeps in one exchange of blocks of unequal size.")
      .def_ro("messages", &RankCounts::messages,
              "Sent; without what a padded plan itself sends, as SWAPMEET_STATS reports them.")
      .def_ro("message_bytes", &RankCounts::message_bytes, "In these messages.")
      .def_ro("size_bytes", &RankCounts::size_bytes,
              "Of message_bytes, what tells sizes of blocks and lengths of messages.")
      .def_ro("working_bytes", &RankCounts::working_bytes,
              "The most working memory at a time; without what a padded plan itself uses.")
      .def_ro("plan_messages", &RankCounts::plan_messages,
              "Of the plan that exchanges padded blocks of N bytes: K, or a multiple if blocks are cut into "
              "segments.")
      .def_ro("plan_bytes", &RankCounts::plan_bytes, "Of that plan: D * N.")
      .def_ro("plan_scratch_bytes", &RankCounts::plan_scratch_bytes,
              "Of that plan, besides the 2 * P * N bytes of padded blocks.");
  nb::class_<VaryingCounts>(m, "VaryingCounts", "What one exchange of blocks of unequal size costs.")
      .def_prop_ro(
          "sizes", [](const VaryingCounts& c) { return sizes_names[static_cast<std::size_t>(c.sizes)]; },
          "How sizes get to ranks that do not know them: as the parameter of specs; 'auto': all are known.")
      .def_ro("agreement_bytes", &VaryingCounts::agreement_bytes,
              "That an allreduce exchanges first; 0 if there is none. Counted nowhere else.")
      .def_prop_ro(
          "direct_bytes",
          [](const VaryingCounts& c) {
            return c.direct_bytes == Direct::never ? std::nullopt : std::optional(c.direct_bytes);
          },
          "Blocks of more bytes are sent directly to their destination; None: none does for its size.")
      .def_ro("each_bytes", &VaryingCounts::each_bytes,
              "Of every block, where they are of one size and all ranks know it, so that none is sent; else 0.")
      .def_ro("padded_bytes", &VaryingCounts::padded_bytes, "The bytes N of a padded block; 0 if nothing is padded.")
      .def_ro("bound_bytes", &VaryingCounts::bound_bytes, "No rank's working_bytes is more.")
      .def_ro("largest_bytes", &VaryingCounts::largest_bytes, "Of a block for another rank.")
      .def_ro("mean_bytes", &VaryingCounts::mean_bytes, "Of the blocks for other ranks, empty ones included.")
      .def_ro("declined", &VaryingCounts::declined,
              "Working memory would exceed the limit: the host MPI serves the call, and nothing is counted.")
      .def_ro("plan_known", &VaryingCounts::plan_known, "False: the host MPI exchanges the padded blocks.")
      .def_ro("ranks", &VaryingCounts::ranks, "Of each rank.");
  nb::class_<VaryingCounter>(m, "VaryingCounter",
                             "A spec on a number of ranks, prepared to be counted for any sizes. ValueError: see "
                             "varying_problem().")
      .def(
          "__init__",
          [](VaryingCounter* self, const Spec& spec, Rank ranks, std::string_view nodes) {
            new (self) VaryingCounter(varying_counter(spec, ranks, nodes));
          },
          "spec"_a, "ranks"_a, "nodes"_a = "")
      .def("count", &count_sizes, "sizes"_a, "limit_bytes"_a = standard_limit_bytes,
           "Count one exchange: see count_varying().")
      .def("count_workload", &count_workload, "workload"_a, "seed"_a = 0, "scale"_a = 1.0,
           "limit_bytes"_a = standard_limit_bytes,
           "Count one exchange of blocks of a workload's sizes, each multiplied by `scale` and rounded.");
  m.def(
      "count_varying",
      [](const Spec& spec, Rank ranks, const std::vector<std::vector<std::int64_t>>& sizes, std::string_view nodes,
         std::int64_t limit_bytes) { return count_sizes(varying_counter(spec, ranks, nodes), sizes, limit_bytes); },
      "spec"_a, "ranks"_a, "sizes"_a, "nodes"_a = "", "limit_bytes"_a = standard_limit_bytes,
      "What every rank sends and keeps in one exchange of blocks of unequal size, as SWAPMEET_STATS would "
      "report it.\n"
      "\n"
      "Parameters\n"
      "----------\n"
      "spec : one for which varying_problem() is empty\n"
      "ranks : P\n"
      "sizes : (P, P) nested sequences, bytes\n"
      "    [source][destination], as of workload_sizes().\n"
      "nodes : a node map\n"
      "limit_bytes : SWAPMEET_SCRATCH_LIMIT\n"
      "\n"
      "Raises\n"
      "------\n"
      "ValueError\n"
      "    If such an exchange cannot be counted, or the sizes are not P times P, or one is not from 0 to "
      "2**40.");
  m.def(
      "varying_problem",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        return VaryingCounter::problem(spec, shape_of(ranks, nodes));
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "Why an exchange of blocks of unequal size cannot be counted; '' if it can.");
  m.def(
      "varying_memory_bytes",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        return VaryingCounter::memory_bytes(spec, shape_of(ranks, nodes));
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "About the memory that a VaryingCounter and the sizes take, in bytes. Requires varying_problem() to "
      "be empty.");
}

}  // namespace swapmeet
