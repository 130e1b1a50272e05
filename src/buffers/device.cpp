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

/// The state of the search for drivers among the libraries of this process.
struct Libraries {
  std::mutex mutex;
  unsigned long long loads = 0;  ///< number of libraries loaded when look() last examined them
  void* last = nullptr;          ///< handle of the sentinel library (become_last()); nullptr if there is none
  bool never_last = false;       ///< whether there can be no sentinel
  int looks = 0;                 ///< calls of become_last() while there was a sentinel
  std::array<std::unique_ptr<DeviceDriver>, known_drivers.size()> drivers;
};

Libraries& libraries() {
  static Libraries* const all = new Libraries;  // never destroyed: MPI may be called while a process exits
  return *all;
}

/// The number of libraries that the process has loaded so far.
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

/// The path of each known driver that is loaded; "" for the others.
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

/// Makes a sentinel library the last one in the loader's list of libraries. Asking the loader for the number of loaded
/// libraries takes longer than all else in a short call. But the loader appends each new library to its list, so the
/// link behind the last library shows whether one was added (libraries_changed). The last library must be one that no other
/// code unloads. So this function loads a library of the C library that is usually not in use, first in MPI_Init, and
/// again when other libraries have followed it. If there can be no sentinel, the loader is asked in each call: all
/// candidates are in use, or another thread might read the link behind the library that is unloaded.
void become_last(Libraries& all) {
  // A sentinel is replaced only after so many calls: loading a library takes as long as some hundred calls of loads().
  constexpr int looks_worth_it = 64;
  if (all.never_last || (all.last && ++all.looks < looks_worth_it)) return;
  libraries_changed = &always;
  all.looks = 0;
  if (all.last) dlclose(all.last);
  all.last = nullptr;
  all.never_last = true;
  int threads = MPI_THREAD_MULTIPLE;
  if (PMPI_Query_thread(&threads) != MPI_SUCCESS || threads == MPI_THREAD_MULTIPLE) return;
  // The candidates are loaded from the folder of the C library: by name alone, LD_LIBRARY_PATH may find other files in
  // the working directory.
  Dl_info libc{};
  if (dladdr(reinterpret_cast<void*>(&abort), &libc) == 0 || !libc.dli_fname || *libc.dli_fname != '/') return;
  const std::string folder(libc.dli_fname, std::strrchr(libc.dli_fname, '/') + 1);
  for (const char* const name : {"libanl.so.1", "libBrokenLocale.so.1"}) {
    link_map* map = nullptr;
    void* const library = dlopen((folder + name).c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!library) continue;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && !map->l_next) {
      all.last = library;
      all.never_last = false;
      libraries_changed = &map->l_next;
      return;
    }
    dlclose(library);
  }
}

/// Finds drivers that have been loaded since the last call.
void look(Libraries& all) {
  bool known = false;
  for (const auto& driver : all.drivers) known |= driver != nullptr;
  if (!known) become_last(all);  // comes first, so that no library is missed
  const unsigned long long now = loads();
  if (now == all.loads) return;
  all.loads = now;
  const Paths paths = paths_of_drivers();
  for (std::size_t i = 0; i < known_drivers.size(); ++i) {
    if (all.drivers[i] || paths[i].empty()) continue;
    void* const library = dlopen(paths[i].c_str(), RTLD_LAZY | RTLD_NOLOAD);  // never closed
    if (library) all.drivers[i] = known_drivers[i].of(library);
    if (all.drivers[i]) libraries_changed = &always;
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

link_map* const* libraries_changed = &always;

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
