#include "buffers/device.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "buffers/device_drivers.hpp"
#include "mpi/mpi.hpp"

namespace swapmeet {

namespace {

link_map any_map{};
link_map* const always = &any_map;

/// What we know of the libraries of this process.
struct Libraries {
  std::mutex mutex;
  unsigned long long loads = 0;  ///< until we looked
  void* last = nullptr;          ///< of ours, that was loaded last
  bool never_last = false;       ///< there can be no such
  int looks = 0;
  std::array<std::unique_ptr<DeviceDriver>, known_drivers.size()> drivers;
};

Libraries& libraries() {
  static Libraries* const all = new Libraries;  // for ever: MPI may be called while a process exits
  return *all;
}

unsigned long long loads() {
  unsigned long long number = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* to) {
        *static_cast<unsigned long long*>(to) = library->dlpi_adds;
        return 1;
      },
      &number);
  return number;
}

/// The paths of the drivers that are loaded; "" of the others.
using Paths = std::array<std::string, known_drivers.size()>;
Paths paths_of_drivers() {
  Paths paths;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* to) {
        const std::string_view path = library->dlpi_name ? library->dlpi_name : "";
        const std::string_view name = path.substr(path.rfind('/') + 1);
        for (std::size_t i = 0; i < known_drivers.size(); ++i)
          if (name.starts_with(known_drivers[i].library)) (*static_cast<Paths*>(to))[i] = path;
        return 0;
      },
      &paths);
  return paths;
}

/// To ask the loader how many libraries were loaded so far takes more than all else that we do in a short call. But it
/// appends each library to a list, so a look behind the last one tells. That must be one that nobody else unloads: a
/// library of the C library's that nobody uses, which we load in MPI_Init, and anew where others have followed. Without such
/// a one (all are used, or another thread might be looking behind the one that we unload) the loader is asked.
void become_last(Libraries& all) {
  constexpr int looks_worth_it = 64;  // to load a library takes as long as some hundred of them
  if (all.never_last || (all.last && ++all.looks < looks_worth_it)) return;
  device_news = &always;
  if (all.last) dlclose(all.last);
  all.last = nullptr;
  all.never_last = true;
  int threads = MPI_THREAD_MULTIPLE;
  if (PMPI_Query_thread(&threads) != MPI_SUCCESS || threads == MPI_THREAD_MULTIPLE) return;
  Dl_info libc{};  // in whose folder they are: by name alone, LD_LIBRARY_PATH may find others in the working directory
  if (dladdr(reinterpret_cast<void*>(&abort), &libc) == 0 || !libc.dli_fname || *libc.dli_fname != '/') return;
  const std::string folder(libc.dli_fname, std::strrchr(libc.dli_fname, '/') + 1);
  for (const char* const name : {"libanl.so.1", "libBrokenLocale.so.1"}) {
    link_map* map = nullptr;
    void* const library = dlopen((folder + name).c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!library) continue;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && !map->l_next) {
      all.last = library;
      all.never_last = false;
      device_news = &map->l_next;
      return;
    }
    dlclose(library);
  }
}

/// Looks which drivers have been loaded since it last did.
void look(Libraries& all) {
  bool known = false;
  for (const auto& driver : all.drivers) known |= driver != nullptr;
  if (!known) become_last(all);  // before we look: so that nothing is missed
  const unsigned long long now = loads();
  if (now == all.loads) return;
  all.loads = now;
  const Paths paths = paths_of_drivers();
  for (std::size_t i = 0; i < known_drivers.size(); ++i) {
    if (all.drivers[i] || paths[i].empty()) continue;
    void* const library = dlopen(paths[i].c_str(), RTLD_LAZY | RTLD_NOLOAD);  // kept: we call its functions from now on
    if (library) all.drivers[i] = known_drivers[i].of(library);
    if (all.drivers[i]) device_news = &always;
  }
}

std::array<const DeviceDriver*, known_drivers.size()> drivers() {
  Libraries& all = libraries();
  const std::lock_guard lock(all.mutex);
  if (may_be_on_device()) look(all);
  std::array<const DeviceDriver*, known_drivers.size()> found{};
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = all.drivers[i].get();
  return found;
}

}  // namespace

link_map* const* device_news = &always;

const DeviceDriver* device_of(const void* address) {
  for (const DeviceDriver* const driver : drivers())
    if (driver && driver->holds(address)) return driver;
  return nullptr;
}

std::size_t device_in_use() {
  const auto known = drivers();
  for (std::size_t i = 0; i < known.size(); ++i)
    if (known[i] && known[i]->in_use()) return i + 1;
  return 0;
}

std::string_view device_name(std::size_t driver) { return known_drivers[driver - 1].name; }

}  // namespace swapmeet
