/// The known drivers of devices: their libraries, and how to make a DeviceDriver of each.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "buffers/device.hpp"

namespace swapmeet {

struct KnownDriver {
  std::string_view name;     ///< name in messages
  std::string_view library;  ///< prefix of its file name
  /// Makes the driver whose library is loaded as `library`, a handle of dlopen(). Returns nullptr if it lacks a
  /// function.
  std::unique_ptr<DeviceDriver> (*of)(void* library);
};

extern const std::array<KnownDriver, 3> known_drivers;

}  // namespace swapmeet
