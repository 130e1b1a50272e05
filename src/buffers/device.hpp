/// Memory of devices (GPUs), which often only their driver can touch: whether a buffer is such, and copies between it
/// and the host. Drivers are libraries that the application has loaded, or may load at any time; we never load one.
#pragma once

#include <link.h>

#include <cstddef>
#include <string_view>

namespace swapmeet {

/// The driver of one kind of devices. For any thread.
class DeviceDriver {
 public:
  DeviceDriver() = default;
  DeviceDriver(const DeviceDriver&) = delete;
  DeviceDriver& operator=(const DeviceDriver&) = delete;
  virtual ~DeviceDriver() = default;

  /// Whether it has been initialised: nothing is memory of its devices before.
  virtual bool in_use() const = 0;

  /// Whether `address` is memory of its devices that the CPU may not touch.
  virtual bool holds(const void* address) const = 0;

  /// Copies between the host and `device`, which it holds; that is done when it returns. False: it cannot.
  virtual bool copy(void* to, const void* from, std::size_t bytes, const void* device) const = 0;
};

/// What changes when a library is loaded: not null from then on, until we have looked. And if a driver is known.
extern link_map* const* device_news;

/// Whether a buffer may be memory of a device. If not, that takes three instructions.
inline bool may_be_on_device() { return __atomic_load_n(device_news, __ATOMIC_RELAXED) != nullptr; }

/// The driver that holds `address`; nullptr: it is memory of the host.
const DeviceDriver* device_of(const void* address);

/// Names a driver in this process that is in use, for other ranks; 0: none is.
std::size_t device_in_use();
std::string_view device_name(std::size_t driver);

}  // namespace swapmeet
