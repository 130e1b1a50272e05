/// Sparse exchanges of all ranks in one process, for tests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>

#include "bindings.hpp"
#include "choose/sparse.hpp"
#include "proofs/rehearsal.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace swapmeet {

void bind_sparse(nb::module_& m) {
  nb::class_<SparseRehearsal>(m, "SparseRehearsal", "What came of a sparse exchange of all ranks in one process.")
      .def_ro("problem", &SparseRehearsal::problem, "Empty if every message arrived once, whole and in order.")
      .def_ro("working_bytes", &SparseRehearsal::working_bytes, "That a rank takes at most.")
      .def_ro("hops", &SparseRehearsal::hops, "That a rank sends at most, where messages are passed on.")
      .def_ro("header_bytes", &SparseRehearsal::header_bytes, "Of all ranks, in all hops.")
      .def_ro("messages", &SparseRehearsal::messages, "Of all ranks.");
  m.def(
      "rehearse_sparse",
      [](const Spec& spec, Rank ranks, double messages, std::int64_t most_bytes, std::uint64_t seed,
         std::uint32_t calls, std::string_view nodes, bool loses_hops, bool late) {
        const Shape shape = shape_of(ranks, nodes);
        require_schedule(spec, shape);
        if (spec.sparse == Sparse::automatic) throw std::invalid_argument("the spec says nothing of sparse exchanges");
        if (messages < 0 || most_bytes < 0) throw std::invalid_argument("messages and bytes must not be negative");
        return rehearse(spec, shape, {messages, most_bytes, seed, loses_hops, late}, calls);
      },
      "spec"_a, "ranks"_a, "messages"_a = 2, "most_bytes"_a = 16, "seed"_a = 0, "calls"_a = 1, "nodes"_a = "",
      "loses_hops"_a = false, "late"_a = false,
      "Have all ranks make `calls` exchanges of `messages` messages each on average "
      "(tools/proofs/rehearsal.hpp).");
  m.def(
      "choose_sparse",
      [](Rank ranks, const std::string& algorithm) {
        Options options;
        if (const std::string problem = read_algorithm(algorithm, options); !problem.empty())
          throw std::invalid_argument(problem);
        const SparseChoice choice = choose_sparse(shape_of(ranks), options);
        return std::tuple(to_text(choice.spec), choice.reason);
      },
      "ranks"_a, "algorithm"_a = "auto", "(spec, reason) of sparse exchanges on so many ranks.");
}

}  // namespace swapmeet
