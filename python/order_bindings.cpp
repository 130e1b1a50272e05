/// Python's view of orders of the topology: what `order=topology(...)` becomes for so many ranks.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>

#include "bindings.hpp"
#include "schedule/names.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

using Time = std::filesystem::file_time_type;

/// The order that was made last: the commands ask for the same one for each rank.
struct Last {
  OrderSource source;
  std::vector<Rank> members;
  Rank world = 0;
  Time written;  ///< the file
  SlotTable slots;
  std::shared_ptr<const SlotRows> rows;
};

Time time_of(const std::string& file) {
  std::error_code none;
  const auto time = std::filesystem::last_write_time(file, none);
  return none ? Time{} : time;
}

/// Raises with the file, the line and the problem.
Last made(const Spec& spec, const Shape& shape) {
  static std::mutex mutex;
  static std::optional<Last> last;
  const std::lock_guard lock(mutex);
  const Members members = members_of(spec, shape);
  const Time now = time_of(spec.source.network);
  if (!last || last->source != spec.source || last->members != members.world_ranks || last->world != members.world ||
      last->written != now) {
    last.reset();
    SlotTable slots = value_or_raise(make_order(spec.source, members, order_seconds()));
    const auto rows = std::make_shared<const SlotRows>(rows_of(slots));
    last = Last{spec.source, members.world_ranks, members.world, now, std::move(slots), rows};
  }
  return *last;
}

void require_topology(const Spec& spec) {
  if (spec.order != Order::topology) throw std::invalid_argument("the spec has no order=topology(...)");
}

}  // namespace

double order_seconds() {
  double seconds = 2;
  if (const char* const text = std::getenv("SWAPMEET_ORDER_TIME")) (void)read_number(text, 0, 1e6, seconds);
  return seconds;
}

Shape shape_to_schedule(const Spec& spec, Rank ranks, std::string_view nodes) {
  Shape shape = shape_of(ranks, nodes);
  require_schedule(spec, shape);
  if (spec.order != Order::topology) return shape;
  nb::gil_scoped_release release;
  shape.order = made(spec, shape).rows;
  return shape;
}

}  // namespace swapmeet

using namespace swapmeet;

void swapmeet::bind_orders(nb::module_& m) {
  m.def(
      "order_slots",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        require_topology(spec);
        const Shape shape = shape_of(ranks, nodes);
        nb::gil_scoped_release release;
        return made(spec, shape).slots;
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "What order=topology(...) becomes for so many ranks, or nodes of leaders; ValueError: what is wrong, "
      "and where.");
  m.def(
      "order_overfull",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        require_topology(spec);
        const Shape shape = shape_of(ranks, nodes);
        nb::gil_scoped_release release;
        return value_or_raise(overfull(spec.source, members_of(spec, shape), made(spec, shape).slots));
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "The first link that carries more than its capacity in a slot of that order; '' if none does.");
  m.def(
      "order_table_problem",
      [](const Spec& spec, Rank ranks, std::string_view nodes) {
        require_topology(spec);
        const Members members = members_of(spec, shape_of(ranks, nodes));
        const Result<SlotTable> slots = read_slots(spec.source, members.world_ranks, members.world);
        return slots ? std::string() : slots.problem().text();
      },
      "spec"_a, "ranks"_a, "nodes"_a = "",
      "Why the library cannot use that order, which it reads from a table of slots; '' if it can.");
  m.def(
      "order_source",
      [](const Spec& spec) {
        require_topology(spec);
        return std::tuple(spec.source.network, spec.source.routing, spec.source.place);
      },
      "spec"_a, "(network, routing, place) of order=topology(...).");
}
