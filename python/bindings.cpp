/// Python's view of the core: specs, schedules, the verifier, options, rules and workloads. The companion package never
/// re-derives an algorithm; it asks here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "network_bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace swapmeet;

namespace {

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
