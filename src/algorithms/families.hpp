/// Algorithm is the interface of a family of algorithms. algorithm_of() maps families to algorithms.
///
/// A new family needs a file that defines an Algorithm, and a case in algorithm_of(): docs/howto/algorithm.md.
#pragma once

#include <optional>
#include <string>

#include "schedule/flow_builder.hpp"
#include "schedule/spec.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

struct Algorithm {
  /// Returns the flow of one rank. Pure: the same arguments give the same flow on every rank and machine.
  SlotFlow (*flow)(const Spec& spec, const Shape& shape, Rank rank);
  /// Returns why `spec` cannot serve a communicator of this shape, or "" if it can. nullptr: it always can.
  std::string (*unsuitable)(const Spec& spec, const Shape& shape) = nullptr;
  /// Returns the grid on which all ranks have the same flow relative to their own place, or nullopt if there is none.
  /// nullptr: there never is.
  std::optional<Arrangement> (*alike_on)(const Spec& spec, const Shape& shape) = nullptr;
};

/// Returns the algorithm of a family. Throws std::logic_error for Family::native, the host MPI.
const Algorithm& algorithm_of(Family family);

inline std::optional<Arrangement> alike_on(const Spec& spec, const Shape& shape) {
  const Algorithm& algorithm = algorithm_of(spec.family);
  return algorithm.alike_on ? algorithm.alike_on(spec, shape) : std::nullopt;
}

}  // namespace swapmeet
