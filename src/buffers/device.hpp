/// Memory of devices (GPUs): detection of buffers in it, and copies between it and the host. Often only the device's
/// driver can access such memory. Drivers are libraries that the application has loaded, or may load at any time; this
/// library never loads one.
#pragma once

#include <link.h>

#include <cstddef>
#include <string_view>

namespace swapmeet {

/// The driver of one kind of device. Thread-safe.
class DeviceDriver {
 public:
  DeviceDriver() = default;
  DeviceDriver(const DeviceDriver&) = delete;
  DeviceDriver& operator=(const DeviceDriver&) = delete;
  virtual ~DeviceDriver() = default;

  /// Whether the driver has been initialised. Before that, no address is memory of its devices.
  virtual bool in_use() const = 0;

  /// Whether `address` is memory of its devices that the CPU must not access.
  virtual bool holds(const void* address) const = 0;

  /// Copies `bytes` bytes between the host and the device memory at `device`, which is `to` or `from`. The copy is
  /// complete when the function returns. Returns false if it is not possible.
  virtual bool copy(void* to, const void* from, std::size_t bytes, const void* device) const = 0;
};

/// A pointer that becomes not null when the process loads a library, until the library has been examined. It is always
/// not null if a driver is known.
extern link_map* const* libraries_changed;

/// Whether a buffer may be memory of a device. The usual answer, no, takes three instructions.
inline bool may_be_on_device() { return __atomic_load_n(libraries_changed, __ATOMIC_RELAXED) != nullptr; }

/// The driver whose device memory `address` is; nullptr if it is memory of the host.
const DeviceDriver* device_of(const void* address);

/// The number of a driver in this process that is in use, which has the same meaning on all ranks; 0 if none is.
std::size_t device_in_use();
/// The name of the driver with this number, which must not be 0.
std::string_view device_name(std::size_t driver);

}  // namespace swapmeet
