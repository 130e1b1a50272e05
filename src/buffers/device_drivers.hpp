/// The drivers of devices that we know, as libraries and what they are to us.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "buffers/device.hpp"

namespace swapmeet {

struct KnownDriver {
  std::string_view name;     ///< for people
  std::string_view library;  ///< how the name of its file begins
  /// The driver that is loaded as `library`, a handle of dlopen; nullptr: it lacks a function.
  std::unique_ptr<DeviceDriver> (*of)(void* library);
};

extern const std::array<KnownDriver, 3> known_drivers;

}  // namespace swapmeet
