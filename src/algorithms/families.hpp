/// What a family of algorithms has to say for itself: the one place where algorithms are known by their family.
///
/// A family is a file that defines an Algorithm, and a row of the table in families.cpp: docs/howto/algorithm.md.
#pragma once

#include <optional>
#include <string>

#include "schedule/flow_builder.hpp"
#include "schedule/spec.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

struct Algorithm {
  /// What travels to and from a rank. Pure: the same arguments give the same flow on every rank and machine.
  SlotFlow (*flow)(const Spec& spec, const Shape& shape, Rank rank);
  /// Why `spec` cannot serve a communicator of this shape; "" if it can. nullptr: it always can.
  std::string (*unsuitable)(const Spec& spec, const Shape& shape) = nullptr;
  /// The grid on which every rank does what the others do, with peers as far from it; nullopt: there is none. nullptr:
  /// there never is.
  std::optional<Arrangement> (*alike_on)(const Spec& spec, const Shape& shape) = nullptr;
  bool proved = false;  ///< for every number of ranks: docs/proofs.md
};

/// Requires family != Family::native, which is the host MPI.
const Algorithm& algorithm_of(Family family);

inline std::optional<Arrangement> alike_on(const Spec& spec, const Shape& shape) {
  const Algorithm& algorithm = algorithm_of(spec.family);
  return algorithm.alike_on ? algorithm.alike_on(spec, shape) : std::nullopt;
}

}  // namespace swapmeet
