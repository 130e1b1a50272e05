// The known drivers of devices. Their functions and constants are those of the vendors' headers, which need not be
// installed: cuda.h; hsa.h and hsa_ext_amd.h of ROCR; ze_api.h. The vendors keep all of them compatible.
#include "buffers/device_drivers.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "node/single_copy.hpp"

namespace swapmeet {

namespace {

template <class Function>
bool find(void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

/// NVIDIA's driver.
class Cuda : public DeviceDriver {
 public:
  bool find_all(void* library) {
    return find(library, attribute_, "cuPointerGetAttribute") && find(library, copy_, "cuMemcpy") &&
           find(library, synchronize_, "cuStreamSynchronize") && find(library, push_, "cuCtxPushCurrent_v2") &&
           find(library, pop_, "cuCtxPopCurrent_v2");
  }

  bool in_use() const override {
    int type = 0;
    const int error = attribute_(&type, memory_type, reinterpret_cast<std::uintptr_t>(&type));
    return error != not_initialized && error != deinitialized && error != stub_library;
  }

  bool holds(const void* address) const override {
    unsigned type = 0, managed = 0;
    const auto pointer = reinterpret_cast<std::uintptr_t>(address);
    if (attribute_(&type, memory_type, pointer) != success || type != on_device) return false;
    return attribute_(&managed, is_managed, pointer) != success || managed == 0;
  }

  bool copy(void* to, const void* from, std::size_t bytes, const void* device) const override {
    void *owner = nullptr, *popped = nullptr;  // contexts; this thread may have none, or another one than the owner
    const bool pushed = attribute_(&owner, context, reinterpret_cast<std::uintptr_t>(device)) == success && owner &&
                        push_(owner) == success;
    // cuMemcpy from pageable memory may return before the copy is complete.
    const bool copied =
        copy_(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from), bytes) == success &&
        synchronize_(nullptr) == success;
    if (pushed) pop_(&popped);
    return copied;
  }

 private:
  static constexpr int success = 0, not_initialized = 3, deinitialized = 4, stub_library = 34;
  static constexpr int context = 1, memory_type = 2, is_managed = 8;  // attributes of a pointer
  static constexpr unsigned on_device = 2;
  int (*attribute_)(void* value, int attribute, std::uintptr_t pointer) = nullptr;
  int (*copy_)(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) = nullptr;
  int (*synchronize_)(void* stream) = nullptr;
  int (*push_)(void* context) = nullptr;
  int (*pop_)(void** context) = nullptr;
};

/// AMD's runtime below HIP and OpenMP. In contrast to hipPointerGetAttributes, its query initialises nothing, and the
/// answer has the same meaning in all versions.
class Hsa : public DeviceDriver {
 public:
  bool find_all(void* library) {
    return find(library, pointer_info_, "hsa_amd_pointer_info") && find(library, agent_info_, "hsa_agent_get_info") &&
           find(library, copy_, "hsa_memory_copy");
  }

  bool in_use() const override {
    Info info{};
    return ask(&info, info) != not_initialized;
  }

  bool holds(const void* address) const override {
    Info info{};
    int kind = 0;
    if (ask(address, info) != success || info.type == unknown || info.type == locked_by_host) return false;
    return agent_info_(info.owner, agent_kind, &kind) != success || kind != cpu;
  }

  bool copy(void* to, const void* from, std::size_t bytes, const void*) const override {
    return copy_(to, from, bytes) == success;
  }

 private:
  struct Agent {
    std::uint64_t handle;
  };
  struct Info {
    std::uint32_t size;
    int type;
    void *agent_base, *host_base;
    std::size_t bytes;
    void* user_data;
    Agent owner;
    std::uint32_t flags;
  };

  int ask(const void* address, Info& info) const {
    info.size = sizeof info;
    return pointer_info_(address, &info, nullptr, nullptr, nullptr);
  }

  static constexpr int success = 0, not_initialized = 0x100B;
  static constexpr int unknown = 0, locked_by_host = 2;
  static constexpr int agent_kind = 17, cpu = 0;
  int (*pointer_info_)(const void*, Info*, void* (*)(std::size_t), std::uint32_t*, Agent**) = nullptr;
  int (*agent_info_)(Agent, int attribute, void* value) = nullptr;
  int (*copy_)(void* to, const void* from, std::size_t bytes) = nullptr;
};

/// Intel's driver. It describes and copies memory only for callers that have the context in which the memory was
/// allocated. So the kernel is asked whether the memory can be read by the CPU. If not, the buffer cannot be copied.
class LevelZero : public DeviceDriver {
 public:
  bool find_all(void* library) { return find(library, drivers_, "zeDriverGet"); }

  bool in_use() const override {
    std::uint32_t count = 0;
    return drivers_(&count, nullptr) != uninitialized;
  }

  bool holds(const void* address) const override {
    char byte = 0;
    const RemotePiece there{reinterpret_cast<std::uintptr_t>(address), 1};
    const Piece here{&byte, 1};
    return in_use() && !read_from(getpid(), {&there, 1}, {&here, 1}) && errno == EFAULT;
  }

  bool copy(void*, const void*, std::size_t, const void*) const override { return false; }

 private:
  static constexpr int uninitialized = 0x78000001;
  int (*drivers_)(std::uint32_t* count, void** drivers) = nullptr;
};

template <class Driver>
std::unique_ptr<DeviceDriver> driver_of(void* library) {
  auto driver = std::make_unique<Driver>();
  if (!driver->find_all(library)) return nullptr;
  return driver;
}

}  // namespace

const std::array<KnownDriver, 3> known_drivers{{{"CUDA", "libcuda.so", driver_of<Cuda>},
                                                {"ROCm", "libhsa-runtime64.so", driver_of<Hsa>},
                                                {"Level Zero", "libze_loader.so", driver_of<LevelZero>}}};

}  // namespace swapmeet
