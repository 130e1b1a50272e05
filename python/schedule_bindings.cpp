/// Schedules and flows, and their rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "algorithms/orders.hpp"
#include "schedule/flow_builder.hpp"
#include "text/schedule_text.hpp"
#include "topology/arrangement.hpp"
#include "proofs/checks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

Schedule schedule_of(const Spec& spec, Rank ranks, Rank rank, std::string_view nodes) {
  require_schedule(spec, shape_of(ranks, nodes));
  if (rank < 0 || rank >= ranks)
    throw std::invalid_argument("rank " + std::to_string(rank) + " is not one of " + std::to_string(ranks));
  return generate(spec, shape_to_schedule(spec, ranks, nodes), rank);
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

Flow flow_of_spec(const Spec& spec, Rank ranks, Rank rank, std::string_view nodes) {
  require_rank("rank", rank, ranks);
  return flow(spec, shape_to_schedule(spec, ranks, nodes), rank);
}

/// Returns the flow of a schedule by following blocks through its buffers: the inverse of place().
Flow flow_of_schedule(const Schedule& schedule) {
  Verdict verdict;
  if (schedule.neighbours) throw std::invalid_argument("an exchange with neighbours has no flow");
  check_head(schedule, schedule.ranks, schedule.rank, schedule, verdict);
  if (verdict.proved()) check_bounds(schedule, verdict);
  if (!verdict.proved()) throw std::invalid_argument(verdict.findings.front());
  FlowBuilder flow({schedule.ranks}, schedule.rank);
  for (const Step& step : schedule.steps) {
    flow.phase(false);
    for (const Copy& copy : schedule.copies_of(step)) flow.move({&copy.from, 1}, {&copy.to, 1});
    flow.round(step.window, step.completion, step.posting);
    for (const Message& message : schedule.sends_of(step))
      flow.send(message.peer, schedule.runs_of(message), message.last);
    for (const Message& message : schedule.receives_of(step))
      flow.receive(message.peer, schedule.runs_of(message), message.last);
  }
  return flow_of(std::move(flow).finish());
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

/// The room that a schedule takes, reserved but unused parts included.
std::size_t memory_bytes(const Schedule& s) {
  return sizeof s + s.steps.capacity() * sizeof(Step) + s.copies.capacity() * sizeof(Copy) +
         (s.sends.capacity() + s.receives.capacity()) * sizeof(Message) + s.runs.capacity() * sizeof(Run);
}

}  // namespace

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

}  // namespace swapmeet
