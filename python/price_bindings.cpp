/// Python's view of machines and prices. See bindings.cpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "model/price.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

namespace {

Model model_named(std::string_view name) {
  const auto found = std::ranges::find(model_names, name);
  if (found == model_names.end())
    throw std::invalid_argument("\"" + std::string(name) + "\" is no model: hockney, loggp, max-rate or pipelined");
  return static_cast<Model>(found - model_names.begin());
}

std::int64_t block_of(std::int64_t bytes) {
  if (bytes < 0) throw std::invalid_argument("no block has a negative size");
  return bytes;
}

Work work_of(const Spec& spec, Rank ranks, std::string_view nodes) {
  const Shape shape = shape_to_count(spec, ranks, nodes);
  Work work;
  count_work(spec, shape, Nodes(shape), work);
  return work;
}

using Times = std::vector<std::vector<double>>;

Times price_radices(Spec spec, Rank ranks, std::string_view nodes, const std::vector<std::int32_t>& radices,
                    const Machine& machine, std::string_view model, const std::vector<std::int64_t>& sizes) {
  if (spec.family != Family::bruck) throw std::invalid_argument("only the family bruck has radices");
  const Shape shape = shape_to_count(spec, ranks, nodes);
  const Nodes layout(shape);
  const Model which = model_named(model);
  Times times;
  times.reserve(radices.size());
  Work work;
  for (const std::int32_t radix : radices) {
    if (radix < 2) throw std::invalid_argument("a radix must be 2 or more");
    spec.radices = {{radix}};
    count_work(spec, shape, layout, work);
    std::vector<double>& row = times.emplace_back();
    for (const std::int64_t bytes : sizes) row.push_back(price(work, machine, which, block_of(bytes)).total());
  }
  return times;
}

void bind_machines(nb::module_& m) {
  nb::class_<MessageCost>(
      m, "Link", "What messages of one kind cost: microseconds, and nanoseconds for a byte. See src/model/machine.hpp.")
      .def(nb::init<>())
      .def_rw("latency_us", &MessageCost::latency_us)
      .def_rw("overhead_us", &MessageCost::overhead_us)
      .def_rw("gap_us", &MessageCost::gap_us)
      .def_rw("byte_ns", &MessageCost::byte_ns)
      .def_rw("rendezvous_us", &MessageCost::rendezvous_us)
      .def_rw("eager_bytes", &MessageCost::eager_bytes)
      .def_rw("handshake_trips", &MessageCost::handshake_trips)
      .def_rw("fragment_byte_ns", &MessageCost::fragment_byte_ns)
      .def_rw("fragment_bytes", &MessageCost::fragment_bytes)
      .def_rw("cached_peers", &MessageCost::cached_peers)
      .def_rw("cold_us", &MessageCost::cold_us)
      .def_prop_ro("start_us", &MessageCost::start_us, "A message without bytes: L + 2o.");
  nb::class_<Copying>(m, "Copying", "What copies cost: for each byte, and for each piece of memory.")
      .def(nb::init<>())
      .def_rw("byte_ns", &Copying::byte_ns)
      .def_rw("piece_us", &Copying::piece_us)
      .def_rw("uncached_byte_ns", &Copying::uncached_byte_ns);
  nb::class_<Machine>(m, "MachineCosts",
                      "What messages, bytes and copies cost. See swapmeet.machines for descriptions with sources.")
      .def(nb::init<>())
      .def_rw("shared", &Machine::shared)
      .def_rw("within", &Machine::within)
      .def_rw("between", &Machine::between)
      .def_rw("node_byte_ns", &Machine::node_byte_ns)
      .def_rw("node_message_us", &Machine::node_message_us)
      .def_rw("memory_byte_ns", &Machine::memory_byte_ns)
      .def_rw("pack", &Machine::pack)
      .def_rw("datatype", &Machine::datatype)
      .def_rw("datatype_us", &Machine::datatype_us)
      .def_rw("cache_bytes", &Machine::cache_bytes)
      .def_rw("call_us", &Machine::call_us);
  m.def(
      "models", [] { return std::vector<std::string_view>(model_names.begin(), model_names.end()); },
      "Names of the models of time.");
}

void bind_work(nb::module_& m) {
  nb::class_<PhaseTraffic>(m, "Traffic",
                           "Messages of one kind in a phase: of the rank with the most, and of the node with the most.")
      .def_ro("messages", &PhaseTraffic::messages)
      .def_ro("blocks", &PhaseTraffic::blocks)
      .def_ro("node_messages", &PhaseTraffic::node_messages)
      .def_ro("node_blocks", &PhaseTraffic::node_blocks);
  nb::class_<PhaseWork>(m, "Phase",
                        "Messages that no other messages wait for: those of a digit, or of a phase of leaders.")
      .def_ro("within", &PhaseWork::within, "Messages that stay within nodes.")
      .def_ro("between", &PhaseWork::between, "Messages between nodes.")
      .def_ro("batches", &PhaseWork::batches, "Of messages in flight together.")
      .def_prop_ro(
          "by_size",
          [](const PhaseWork& phase) {
            std::vector<std::tuple<std::int64_t, double, std::int64_t, std::int64_t>> rows;
            for (const EqualMessages& p : phase.by_size)
              if (p.messages > 0) rows.emplace_back(p.messages, p.blocks, p.firsts, p.lasts);
            return rows;
          },
          "(messages, blocks in each, batches that begin with one, batches that end with one), the largest "
          "first.");
  nb::class_<Price>(m, "Price", "The time of an exchange and its parts, in microseconds.")
      .def_ro("latency", &Price::latency)
      .def_ro("overhead", &Price::overhead)
      .def_ro("gap", &Price::gap)
      .def_ro("bandwidth", &Price::bandwidth)
      .def_ro("pack", &Price::pack)
      .def_ro("call", &Price::call)
      .def_prop_ro("total", &Price::total);
  nb::class_<Work>(m, "Work",
                   "What an exchange makes ranks and nodes do, for any size of a block and any machine.\n"
                   "\n"
                   "Raises ValueError if the spec cannot serve so many ranks.")
      .def(
          "__init__",
          [](Work* self, const Spec& spec, Rank ranks, std::string_view nodes) {
            new (self) Work(work_of(spec, ranks, nodes));
          },
          "spec"_a, "ranks"_a, "nodes"_a = "")
      .def_static(
          "largest_node", [](Rank ranks, std::string_view nodes) { return Nodes(shape_of(ranks, nodes)).largest(); },
          "ranks"_a, "nodes"_a, "Q: the ranks of the largest node of a node map.")
      .def_ro("phases", &Work::phases)
      .def_prop_ro(
          "packed", [](const Work& w) { return std::pair(w.packed.blocks, w.packed.pieces); },
          "(blocks, pieces) that a rank copies.")
      .def_prop_ro(
          "typed", [](const Work& w) { return std::pair(w.typed.blocks, w.typed.pieces); },
          "(blocks, pieces) that MPI gathers or scatters, by datatypes.")
      .def_ro("typed_messages", &Work::typed_messages, "In which they are.")
      .def(
          "price",
          [](const Work& work, const Machine& machine, std::string_view model, std::int64_t block_bytes) {
            return price(work, machine, model_named(model), block_of(block_bytes));
          },
          "machine"_a, "model"_a, "block_bytes"_a, "The time for blocks of so many bytes, by one of models().");
  m.def("price_radices", &price_radices, "spec"_a, "ranks"_a, "nodes"_a, "radices"_a, "machine"_a, "model"_a, "sizes"_a,
        "Microseconds of the spec (of the family bruck) with each radix: for each, of blocks of each size.");
}

}  // namespace

void bind_prices(nb::module_& m) {
  bind_machines(m);
  bind_work(m);
}

}  // namespace swapmeet
