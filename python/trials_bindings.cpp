/// Trials of other algorithms while an application runs, and what goes before them: for replays and tests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <stdexcept>
#include <tuple>

#include "bindings.hpp"
#include "choose/first_calls.hpp"
#include "choose/setup_policy.hpp"
#include "choose/trials.hpp"
#include "model/work.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

void bind_trials(nb::module_& m) {
  nb::class_<Trials>(m, "Trials",
                     "Finds the fastest of several algorithms while an application runs (src/choose/trials.hpp).")
      .def(
          "__init__",
          [](Trials* self, double share, const std::vector<std::tuple<double, double, std::int64_t>>& arms, int usual,
             double common, double own, std::int64_t calls_before, int in_a_row, double early_calls) {
            if (usual < 0 || usual >= static_cast<int>(arms.size())) throw std::invalid_argument("usual is no arm");
            std::vector<Expectation> expected;
            for (const auto& [seconds, deviation, calls] : arms)
              expected.push_back({Spec{}, {std::log(seconds), deviation}, seconds, calls});
            new (self) Trials(share, expected, usual, {common, own},
                              {calls_before, TrialRows::of_calls(in_a_row), early_calls});
          },
          "share"_a, "arms"_a, "usual"_a, "common"_a = Doubt{}.common, "own"_a = Doubt{}.own, "calls"_a = 0,
          "in_a_row"_a = 1, "early_calls"_a = Trials::early_calls,
          "`arms`: (seconds, deviation of the logarithm, measured calls) that are expected; the host MPI first. "
          "`calls`: "
          "so far. `in_a_row`: calls of one trial. `early_calls`: calls that trials may cost beyond their share.")
      .def(
          "__init__",
          [](Trials* self, double share, const std::vector<Expectation>& arms, int usual, double common, double own,
             std::int64_t calls_before, double early_calls) {
            if (usual < 0 || usual >= static_cast<int>(arms.size())) throw std::invalid_argument("usual is no arm");
            new (self) Trials(share, arms, usual, {common, own}, {calls_before, TrialRows{}, early_calls});
          },
          "share"_a, "arms"_a, "usual"_a, "common"_a = Doubt{}.common, "own"_a = Doubt{}.own, "calls"_a = 0,
          "early_calls"_a = Trials::early_calls)
      .def_prop_ro("pause", &Trials::pause, "Calls that go as usual before the next trial.")
      .def_static(
          "of_starts",
          [](double share) {
            return Trials(share, expectations_of_starts(Spec{}, Spec{}), Trials::reference, doubt_of_starts,
                          {0, TrialRows::of_starts()});
          },
          "share"_a, "Of the schedule that blocking calls would use, and of one of a single step.")
      .def("next", &Trials::next, "waiting_s"_a, "since_s"_a, "The arm of the trial that begins.")
      .def_prop_ro("usual", &Trials::usual)
      .def_prop_ro("left", &Trials::left, "Calls of the trial that have not begun.")
      .def("call_begins", &Trials::call_begins)
      .def("took", &Trials::took, "call_s"_a, "Records a call of the trial.")
      .def(
          "took_all",
          [](Trials& trials, double call_s) {
            for (; trials.left() > 0; trials.call_begins());
            for (int call = 0; call < trials.row_calls(); ++call) trials.took(call_s);
          },
          "call_s"_a, "Records all calls of the trial.")
      .def("cut_short", &Trials::cut_short, "No further calls of the trial are made.")
      .def_prop_ro("awaits_learning", &Trials::awaits_learning)
      .def_prop_ro("times",
                   [](Trials& trials) { return std::vector<double>(trials.times().begin(), trials.times().end()); })
      .def(
          "learn",
          [](Trials& trials, const std::vector<double>& times) {
            if (times.size() != trials.times().size()) throw std::invalid_argument("as many times as there were");
            std::copy(times.begin(), times.end(), trials.times().begin());
            trials.learn();
          },
          "times"_a, "Replaces the times by those of all ranks, and learns from them.")
      .def("seconds", &Trials::seconds, "arm"_a, "Median; negative: it was never tried.")
      .def("spread_s", &Trials::spread_s, "arm"_a, "Deviation of that.")
      .def("samples", &Trials::samples, "arm"_a)
      .def_prop_ro("trials", &Trials::trials)
      .def_prop_ro("calls", &Trials::calls)
      .def_prop_ro("cost_s", &Trials::cost_s)
      .def_prop_ro_static("setup_s", [](nb::handle) { return Trials::setup_s; })
      .def_prop_ro_static("early_calls", [](nb::handle) { return Trials::early_calls; });
  m.def(
      "promise_much", [](const std::vector<Expectation>& arms) { return !arms.empty() && promise_much(arms); },
      "arms"_a, "Whether something is expected to take less than 0.9 of the time of the host MPI, which comes first.");
  m.def(
      "first_calls",
      [](Collective collective, Rank ranks, std::int64_t block_bytes, const Options& options, std::string_view nodes,
         bool host) {
        return first_calls(collective, ranks, Nodes(shape_of(ranks, nodes)).count(), block_bytes, options, host);
      },
      "collective"_a, "ranks"_a, "block_bytes"_a, "options"_a, "nodes"_a, "host"_a,
      "Calls that go as usual, `host`: by the host MPI, before anything is tried.");
  m.attr("FIRST_UNPROMISING") = first_unpromising;
  nb::class_<SetupPolicy>(m, "SetupPolicy", "When a communicator is worth setting up (src/choose/setup_policy.hpp).")
      .def(nb::init<>())
      .def("leave", &SetupPolicy::leave, "calls"_a, "The next calls are left to the host MPI before the ranks meet.")
      .def("leaves_call", &SetupPolicy::leaves_call, "Whether the call that comes is; counts it.")
      .def("setup_begins", &SetupPolicy::setup_begins,
           "The exchange of parameters takes place: no further call is left to the host MPI before it.")
      .def(
          "over",
          [](SetupPolicy& policy, bool measured, double small_calls, std::int64_t made) {
            return policy.over({measured, made}, small_calls);
          },
          "measured"_a, "small_calls"_a, "made"_a = 0,
          "Counts a call; whether setting up is worth it now. measured, made: in earlier runs.")
      .def_ro_static("first_calls", &SetupPolicy::first_calls)
      .def_ro_static("first_known_calls", &SetupPolicy::first_known_calls)
      .def_ro_static("repeated_calls", &SetupPolicy::repeated_calls);
}

}  // namespace swapmeet
