/// Whether a spec can serve a communicator.
#pragma once

#include <string>

#include "schedule/spec.hpp"

namespace swapmeet {

/// Why `spec` cannot serve a communicator of this shape; "" if it can.
std::string unsuitable(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
