/// Python's view of the core: specs, schedules, the verifier, options, rules and workloads. The companion package never
/// re-derives an algorithm; it asks here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "bindings.hpp"

#include "algorithms/generate.hpp"
#include "algorithms/neighbours.hpp"
#include "algorithms/orders.hpp"
#include "model/counts.hpp"
#include "model/threshold.hpp"
#include "model/varying_counts.hpp"
#include "network_bindings.hpp"
#include "options/options.hpp"
#include "schedule/flow.hpp"
#include "schedule/text.hpp"
#include "topology/arrangement.hpp"
#include "topology/node_map.hpp"
#include "verify/certificate.hpp"
#include "verify/checks.hpp"
#include "verify/symmetry.hpp"
#include "workload/workload.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace swapmeet;

namespace {

Schedule schedule_of(const Spec& spec, Rank ranks, Rank rank, std::string_view nodes) {
  require_schedule(spec, shape_of(ranks, nodes));
  if (rank < 0 || rank >= ranks)
    throw std::invalid_argument("rank " + std::to_string(rank) + " is not one of " + std::to_string(ranks));
  return generate(spec, shape_to_schedule(spec, ranks, nodes), rank);
}

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

Verdict verify_symmetric_spec(const Spec& spec, Rank ranks) {
  const Shape shape = shape_of(ranks);
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

/// (peer, runs) of each message; runs in their text form.
using MessageRows = std::vector<std::pair<Rank, std::vector<std::string>>>;

MessageRows rows_of(const Schedule& schedule, std::span<const Message> messages) {
  MessageRows rows;
  for (const Message& message : messages) {
    rows.emplace_back(message.peer, std::vector<std::string>{});
    for (const Run& run : schedule.runs_of(message)) rows.back().second.push_back(to_text(run));
  }
  return rows;
}

using StepRow = std::tuple<std::int32_t, std::string_view, std::string_view,
                           std::vector<std::pair<std::string, std::string>>, MessageRows, MessageRows>;

std::vector<StepRow> steps_of(const Schedule& schedule) {
  std::vector<StepRow> rows;
  for (const Step& step : schedule.steps) {
    std::vector<std::pair<std::string, std::string>> copies;
    for (const Copy& copy : schedule.copies_of(step)) copies.emplace_back(to_text(copy.from), to_text(copy.to));
    rows.emplace_back(step.window, to_text(step.completion), to_text(step.posting), std::move(copies),
                      rows_of(schedule, schedule.sends_of(step)), rows_of(schedule, schedule.receives_of(step)));
  }
  return rows;
}

/// What the copies of each step are for.
std::vector<std::string_view> purposes_of(const Schedule& schedule) {
  std::vector<std::string_view> purposes;
  for (const Step& step : schedule.steps)
    purposes.push_back(step.purpose == Purpose::pack ? "pack" : step.purpose == Purpose::unpack ? "unpack" : "copy");
  return purposes;
}

/// Where each rank is on the grid of a spec: its coordinate in each dimension. None, if blocks do not travel on a grid.
std::vector<std::vector<std::int32_t>> coordinates_of(const Spec& spec, Rank ranks, std::string_view nodes) {
  const Shape shape = shape_of(ranks, nodes);
  require_schedule(spec, shape);
  if (spec.family == Family::leaders) return {};
  const Arrangement grid = arrange(spec.dimensions, shape);
  std::vector<std::vector<std::int32_t>> coordinates;
  for (std::int32_t place : grid.place_of) {
    auto& along = coordinates.emplace_back();
    for (const std::int32_t size : grid.sizes) {
      along.push_back(place % size);
      place /= size;
    }
  }
  return coordinates;
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

Schedule schedule_for_neighbours(const Spec& spec, const Neighbourhood& neighbourhood) {
  std::string problem = unsuitable_for_neighbours(spec);
  if (spec.family == Family::native) problem = "the host MPI has no schedule";
  if (!problem.empty()) throw std::invalid_argument(problem);
  return generate(spec, neighbourhood);
}

void require_rank(const char* what, int rank, int ranks) {
  shape_of(ranks);
  if (rank < 0 || rank >= ranks)
    throw std::invalid_argument(std::string(what) + " " + std::to_string(rank) + " is not one of " +
                                std::to_string(ranks));
}

Flow flow_of_spec(const Spec& spec, Rank ranks, Rank rank, std::string_view nodes) {
  require_rank("rank", rank, ranks);
  return flow(spec, shape_to_schedule(spec, ranks, nodes), rank);
}

Flow flow_of_schedule(const Schedule& schedule) {
  Verdict verdict;
  if (schedule.neighbours) throw std::invalid_argument("an exchange with neighbours has no flow");
  check_head(schedule, schedule.ranks, schedule.rank, schedule, verdict);
  if (verdict.proved()) check_bounds(schedule, verdict);
  if (!verdict.proved()) throw std::invalid_argument(verdict.findings.front());
  return flow_of(schedule);
}

/// (peer, last, numbers of the blocks) of each message.
using BlockRows = std::vector<std::tuple<Rank, bool, std::vector<std::int32_t>>>;

BlockRows rows_of(std::span<const Message> messages, const std::vector<std::int32_t>& list) {
  BlockRows rows;
  for (const Message& message : messages) {
    const auto blocks = std::span(list).subspan(message.first, message.count);
    rows.emplace_back(message.peer, message.last, std::vector<std::int32_t>(blocks.begin(), blocks.end()));
  }
  return rows;
}

using FlowRow = std::tuple<std::int32_t, std::string_view, BlockRows, BlockRows>;

std::vector<FlowRow> rounds_of_flow(const Flow& flow) {
  std::vector<FlowRow> rows;
  for (const Round& round : flow.rounds)
    rows.emplace_back(round.window, to_text(round.completion), rows_of(flow.sends_of(round), flow.departing),
                      rows_of(flow.receives_of(round), flow.arriving));
  return rows;
}

/// A flow as rounds_of_flow() gives it. What it says is not checked.
Flow flow_of_rows(Rank ranks, Rank rank, const std::vector<FlowRow>& rows) {
  Flow flow{.ranks = ranks, .rank = rank};
  const auto add = [](const BlockRows& messages, std::vector<Message>& list, std::vector<std::int32_t>& numbers) {
    for (const auto& [peer, last, blocks] : messages) {
      list.push_back(
          {peer, static_cast<std::uint32_t>(numbers.size()), static_cast<std::uint32_t>(blocks.size()), last});
      numbers.insert(numbers.end(), blocks.begin(), blocks.end());
    }
    return static_cast<std::uint32_t>(messages.size());
  };
  for (const auto& [window, completion, sends, receives] : rows) {
    const auto known = named<Completion>(completion, completion_names);
    if (!known) throw std::invalid_argument("a completion is all, any or test");
    Round round{.first_send = static_cast<std::uint32_t>(flow.sends.size()),
                .first_receive = static_cast<std::uint32_t>(flow.receives.size()),
                .window = window,
                .completion = *known};
    round.send_count = add(sends, flow.sends, flow.departing);
    round.receive_count = add(receives, flow.receives, flow.arriving);
    flow.rounds.push_back(round);
  }
  for (const std::int32_t block : flow.arriving) flow.passed_on = std::max(flow.passed_on, block - ranks + 1);
  return flow;
}

std::pair<Verdict, std::int64_t> search(const std::vector<Schedule>& schedules, std::int64_t most_states) {
  std::int64_t states = 0;
  Verdict verdict = search_orders(schedules, most_states, states);
  return {std::move(verdict), states};
}

std::pair<Verdict, std::int64_t> search_rows_in_turn(Rank ranks, std::uint32_t rows, std::uint32_t lead,
                                                     std::uint32_t exchanges, std::int64_t most_states) {
  if (ranks < 1 || ranks > 8 || !std::has_single_bit(rows))
    throw std::invalid_argument("1 to 8 ranks, and 1, 2, 4, ... rows");
  std::int64_t states = 0;
  Verdict verdict = search_rows(ranks, {rows, lead}, exchanges, most_states, states);
  return {std::move(verdict), states};
}

/// The room that a schedule takes, reserved but unused parts included.
std::size_t memory_bytes(const Schedule& s) {
  return sizeof s + s.steps.capacity() * sizeof(Step) + s.copies.capacity() * sizeof(Copy) +
         (s.sends.capacity() + s.receives.capacity()) * sizeof(Message) + s.runs.capacity() * sizeof(Run);
}

using RoundRow = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::int64_t, std::int64_t>;

std::vector<RoundRow> rounds_of(const Spec& spec, Rank ranks, std::string_view nodes) {
  std::vector<RoundRow> rows;
  for (const RoundCounts& r : count_rounds(spec, shape_to_count(spec, ranks, nodes)))
    rows.emplace_back(r.dimension, r.digit, r.weight, r.value, r.messages, r.blocks);
  return rows;
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

const std::int64_t standard_limit_bytes = Options{}.scratch_limit_bytes;
constexpr std::int64_t most_block_bytes = std::int64_t{1} << 40;  ///< as of workloads

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

void bind_specs(nb::module_& m) {
  nb::class_<Spec>(m, "Spec", "One point of the family of schedules.")
      .def(nb::init<>())
      .def_prop_ro(
          "family", [](const Spec& s) { return family_names[static_cast<std::size_t>(s.family)]; },
          "'native', 'direct', 'bruck' or 'leaders'.")
      .def_prop_ro(
          "parameters",
          [](const Spec& s) {
            std::vector<std::pair<std::string, std::string>> list;
            for (const Parameter& p : parameters())
              if (p.print && std::ranges::find(p.families, s.family) != p.families.end())
                list.emplace_back(p.key, p.print(s));
            return list;
          },
          "(key, value as one would type it) of each parameter.")
      .def(
          "unsuitable",
          [](const Spec& s, Rank ranks, std::string_view nodes) {
            const Shape shape = shape_of(ranks, nodes);
            const std::string problem = unsuitable(s, shape);
            return problem.empty() && s.order == Order::topology ? order_problem(s.source, members_of(s, shape))
                                                                 : problem;
          },
          "ranks"_a, "nodes"_a = "", "Why the spec cannot serve so many ranks, placed by a node map; '' if it can.")
      .def("__str__", [](const Spec& s) { return to_text(s); })
      .def("__eq__", &equals<Spec>);
  m.def(
      "parse_spec", [](std::string_view text) { return value_or_raise(parse_spec(text)); }, "text"_a,
      "Read a spec; ValueError says what was expected and in which column.");
  m.def(
      "families", [] { return std::vector<std::string_view>(family_names.begin(), family_names.end()); },
      "Names of the families.");
  m.def(
      "aliases",
      [] {
        std::vector<std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>> rows;
        for (const Alias& a : aliases()) rows.emplace_back(a.name, a.expansion, a.meaning, a.source);
        return rows;
      },
      "(name, expansion, meaning, source) of each alias.");
  m.def(
      "parameters",
      [] {
        std::vector<std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                               std::vector<std::string_view>>>
            rows;
        for (const Parameter& p : parameters()) {
          std::vector<std::string_view> families;
          for (const Family family : p.families) families.push_back(family_names[static_cast<std::size_t>(family)]);
          rows.emplace_back(p.key, p.synonym, p.values, p.meaning, std::move(families));
        }
        return rows;
      },
      "(key, synonym, values, meaning, families) of each parameter.");
}

void bind_schedules(nb::module_& m) {
  nb::class_<Schedule>(m, "Schedule", "What one rank does. str() is its text form.")
      .def_ro("ranks", &Schedule::ranks, "P.")
      .def_ro("rank", &Schedule::rank, "Whose schedule it is.")
      .def_ro("scratch_blocks", &Schedule::scratch_blocks,
              "Room for so many blocks is needed besides the application's buffers.")
      .def_ro("segment_bytes", &Schedule::segment_bytes, "Bytes of a block that one pass moves; 0: all.")
      .def_prop_ro(
          "messages", [](const Schedule& s) { return s.sends.size(); }, "Messages that the rank sends (K).")
      .def_prop_ro(
          "blocks",
          [](const Schedule& s) {
            std::int64_t blocks = 0;
            for (const Message& send : s.sends) blocks += s.block_count(send);
            return blocks;
          },
          "Blocks that the rank sends (D).")
      .def_prop_ro("steps", &steps_of,
                   "(window, completion, posting, copies [(from, to)], sends [(peer, runs)], receives [(peer, runs)]) "
                   "of each step; runs in their text form.")
      .def_prop_ro("purposes", &purposes_of, "What the copies of each step are for: 'copy', 'pack' or 'unpack'.")
      .def_prop_ro("memory_bytes", &memory_bytes, "The room that it takes.")
      .def("__str__", [](const Schedule& s) { return to_text(s); })
      .def("__eq__", &equals<Schedule>);
  nb::class_<Flow>(m, "Flow",
                   "What travels to and from one rank, wherever blocks are kept.\n"
                   "\n"
                   "Blocks are numbered: d is the rank's own block for rank d, P + i the i-th that it takes in to pass "
                   "on, and a block\n"
                   "that arrives from source s to stay is -1 - s.")
      .def(
          "__init__",
          [](Flow* self, Rank ranks, Rank rank, const std::vector<FlowRow>& rounds) {
            new (self) Flow(flow_of_rows(ranks, rank, rounds));
          },
          "ranks"_a, "rank"_a, "rounds"_a)
      .def_ro("ranks", &Flow::ranks, "P.")
      .def_ro("rank", &Flow::rank, "Whose flow it is.")
      .def_ro("passed_on", &Flow::passed_on, "Blocks that are taken in to be passed on.")
      .def_prop_ro("rounds", &rounds_of_flow,
                   "(window, completion, sends [(peer, last, blocks)], receives [(peer, last, blocks)]) of each round; "
                   "`last`: the blocks end there; window 0: all messages may be in flight "
                   "together.")
      .def("peak_blocks", &peak_blocks,
           "The most blocks in working memory at a time, in any execution, if each is of the same size.");
  m.def("flow", &flow_of_spec, "spec"_a, "ranks"_a, "rank"_a, "nodes"_a = "",
        "What travels to and from one rank; `nodes` as of generate(), and ValueError likewise.");
  m.def("flow_of", &flow_of_schedule, "schedule"_a,
        "What a schedule without segments makes travel, by following blocks; ValueError if it is out of "
        "bounds.");
  m.def(
      "parse_schedule", [](std::string_view text) { return value_or_raise(parse_schedule(text)); }, "text"_a,
      "Read the text form; ValueError says what was expected, in which line and column. Nothing is "
      "verified.");
  m.def("generate", &schedule_of, "spec"_a, "ranks"_a, "rank"_a, "nodes"_a = "",
        "The schedule of one rank; `nodes` is a node map such as '4+2', 'cyclic:3', '0,1,0,2' or '2/8'.\n"
        "\n"
        "Raises ValueError if the spec cannot serve so many ranks.");
  m.def(
      "parse_node_map", [](std::string_view text, Rank ranks) { return value_or_raise(parse_node_map(text, ranks)); },
      "text"_a, "ranks"_a,
      "The group of each rank at each level, the innermost (nodes) first; ValueError says what was "
      "expected.");
  m.def(
      "grid_sizes",
      [](std::string_view text, Rank ranks) {
        return extent({Dimensions::Kind::nodes, {}}, shape_of(ranks, text)).sizes;
      },
      "text"_a, "ranks"_a, "The sizes of the dimensions in which a node map arranges ranks.");
  m.def("coordinates", &coordinates_of, "spec"_a, "ranks"_a, "nodes"_a = "",
        "The coordinates of each rank on the grid of a spec, in the order of its dimensions; of leaders: "
        "none.");
  m.def("shuffled_ranks", &shuffled_ranks, "n"_a, "seed"_a,
        "0..n-1 in random order, the same for a seed on every machine.");
}

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
  m.def("schedule_for_neighbours", &schedule_for_neighbours, "spec"_a, "neighbourhood"_a,
        "The schedule of one rank of an exchange with its neighbours.");
  m.def(
      "verify_neighbours",
      [](const std::vector<Schedule>& schedules, const std::vector<Neighbourhood>& neighbourhoods) {
        return verify_neighbours(schedules, neighbourhoods);
      },
      "schedules"_a, "neighbourhoods"_a,
      "Verify an exchange with neighbours: a schedule and a neighbourhood of each rank in order.");
  m.def("verify_symmetric", &verify_symmetric_spec, "spec"_a, "ranks"_a,
        "Verify a spec that looks alike from every rank, from the schedules of a few ranks; a finding if it "
        "does not.");
  m.def("verify_symmetric_schedules", &verify_symmetric_schedules, "sample"_a, "sizes"_a,
        "Verify the schedules of some ranks on a grid of `sizes`, all other ranks taken to behave alike.");
  m.def(
      "verify_memory_bytes", [](Rank ranks) { return verify_memory_bytes(shape_of(ranks)); }, "ranks"_a,
      "Memory that verify() needs, in bytes.");
  m.def("search_orders", &search, "schedules"_a, "most_states"_a = 1000000,
        "Walk through every order of completion; returns the verdict and the number of states seen.");
  m.def("search_rows", &search_rows_in_turn, "ranks"_a, "rows"_a = RowsInTurn{}.rows, "lead"_a = RowsInTurn{}.lead,
        "exchanges"_a = 4, "most_states"_a = 1000000,
        "Walk through all that ranks can do to rows of shared memory; returns the verdict and the number of "
        "states seen.\n"
        "\n"
        "Parameters\n"
        "----------\n"
        "ranks : int\n"
        "    Of a node, 1 to 8.\n"
        "rows : int\n"
        "    That each rank has, a power of two; the default is what is executed.\n"
        "lead : int\n"
        "    By so many exchanges a rank may be ahead of another; the default is what is executed.\n"
        "exchanges : int\n"
        "    Done by each rank.\n"
        "most_states : int\n"
        "    After so many the search is given up, which is a finding.\n"
        "\n"
        "Raises\n"
        "------\n"
        "ValueError\n"
        "    If there are too many ranks, or `rows` is no power of two.");
  m.def(
      "proved", [](const Spec& s, Rank ranks) { return proved(s, shape_of(ranks)); }, "spec"_a, "ranks"_a,
      "Whether the automatic choice may use the spec.");
}

void bind_certificates(nb::module_& m) {
  using Bounds = Certificate::Bounds;
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
      .def_ro("exact", &Certificate::exact, "Whether some execution reaches each number of `rank`.");
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
        return ceiling(spec, shape_to_count(spec, ranks, nodes));
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "Upper bounds in closed form, good for any number of ranks.\n"
      "\n"
      "Raises ValueError if the spec cannot serve so many ranks.");
}

void bind_model(nb::module_& m) {
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
  m.def(
      "count",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        return count(spec, shape_to_count(spec, ranks, nodes));
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
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
        "Kinds, their parameters, the distributions and their sources: src/workload/workload.h.");
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

}  // namespace

NB_MODULE(_core, m) {
  m.doc() =
      "The core of Swapmeet: schedules, their verifier, options, the automatic choice, workloads, networks. Knows no "
      "MPI.";
  bind_specs(m);
  bind_schedules(m);
  bind_verifier(m);
  bind_certificates(m);
  bind_model(m);
  bind_varying_counts(m);
  bind_prices(m);
  bind_choice(m);
  bind_trials(m);
  bind_sparse(m);
  bind_workloads(m);
  bind_networks(m);
  bind_orders(m);
  bind_estimates(m);
}
