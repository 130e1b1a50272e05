/// Trials of other algorithms while an application runs, for tests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "choose/trials.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

void bind_trials(nb::module_& m) {
  nb::class_<Trials>(m, "Trials",
                     "Finds the fastest of several algorithms while an application runs (src/choose/trials.hpp).")
      .def(nb::init<double, std::uint64_t>(), "share"_a, "seed"_a)
      .def_prop_ro("pause", &Trials::pause)
      .def_prop_ro("wants_arms", &Trials::wants_arms)
      .def("begin", &Trials::begin, "arms"_a, "usual"_a)
      .def("next", &Trials::next)
      .def_prop_ro("usual", &Trials::usual)
      .def("took", &Trials::took, "waiting_s"_a, "call_s"_a, "since_s"_a)
      .def_prop_ro("round_over", &Trials::round_over)
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
      .def_prop_ro("settled", &Trials::settled)
      .def("seconds", &Trials::seconds, "arm"_a)
      .def_prop_ro("trials", &Trials::trials)
      .def_prop_ro("calls", &Trials::calls)
      .def_prop_ro("cost_s", &Trials::cost_s)
      .def_prop_ro_static("setup_s", [](nb::handle) { return Trials::setup_s; });
}

}  // namespace swapmeet
