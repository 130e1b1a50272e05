#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

namespace {

constexpr const char* open_mpi_kind = "Open MPI";
constexpr const char* mpich_kind = "MPICH";
constexpr const char* standard_kind = "the MPI-5 ABI";
constexpr const char* simgrid_kind = "SimGrid's MPI";

/// What our handles are those of; nullptr: of an MPI that we know nothing of.
constexpr const char* built_for =
#if defined(OMPI_MAJOR_VERSION)
    open_mpi_kind;
#elif defined(MPICH_VERSION)
    mpich_kind;
#elif defined(MPI_ABI_VERSION)
    standard_kind;
#elif defined(SMPI_H)
    simgrid_kind;
#else
    nullptr;
#endif

std::vector<std::string> loaded_objects() {
  std::vector<std::string> names;
  const auto note = [](dl_phdr_info* object, std::size_t, void* all) {
    static_cast<std::vector<std::string>*>(all)->emplace_back(object->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &names);
  return names;
}

constexpr const char* known = "PMPI_Comm_rank";  ///< of every MPI

/// The MPI among all that is loaded. mpi4py loads it with RTLD_LOCAL, where RTLD_NEXT does not look.
void* hidden_mpi() {
  for (const std::string& name : loaded_objects()) {
    void* const object = name.empty() ? nullptr : dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!object) continue;
    void* const found = dlsym(object, known);
    Dl_info home;
    // Not what merely depends on the MPI: from there on the search may come back to us.
    if (found && dladdr(found, &home) && name == home.dli_fname) return object;
    dlclose(object);
  }
  return nullptr;
}

#ifdef OMPI_MAJOR_VERSION
/// The linker may have moved a variable of the MPI into the executable (a copy relocation), which is not behind us.
void* mpi_variable(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  return found ? found : mpi_symbol(name);
}
#endif

const char* kind_here() {
  if (mpi_symbol("ompi_mpi_comm_world")) return open_mpi_kind;
  if (mpi_symbol("smpi_process_comm_self")) return simgrid_kind;
  const auto version = reinterpret_cast<int (*)(int*, int*)>(mpi_symbol("PMPI_Abi_get_version"));
  int major = 0, minor = 0;
  return version && version(&major, &minor) == MPI_SUCCESS && major > 0 ? standard_kind : mpich_kind;
}

bool descends_from_mpich() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  return std::strstr(text, "MPICH") || std::strstr(text, "Intel(R) MPI");
}

/// Fills in everything. "" or what is wrong.
std::string take_all() {
  std::string missing;
  const auto take = [&missing](auto& place, const char* name, void* found) {
    place = reinterpret_cast<std::remove_reference_t<decltype(place)>>(found);
    if (!place && missing.empty()) missing = name;
  };
  if (!mpi_symbol("PMPI_Initialized")) return "there is no MPI in this process";
  const char* const kind = kind_here();
  if (built_for && std::strcmp(kind, built_for) != 0)
    return std::string("this libswapmeet.so was built for ") + built_for + ", but the application uses " + kind;
#define SWAPMEET_TAKE(name) take(PMPI_##name, "PMPI_" #name, mpi_symbol("PMPI_" #name));
  SWAPMEET_MPI_CALLS(SWAPMEET_TAKE)
  SWAPMEET_MPI_LARGE_CALLS(SWAPMEET_TAKE)
  SWAPMEET_MPI_CONVERSIONS(SWAPMEET_TAKE)
#ifdef OMPI_MAJOR_VERSION
#define SWAPMEET_TAKE_CONSTANT(name) take(open_mpi::name, #name, mpi_variable(#name));
  SWAPMEET_OPEN_MPI_CONSTANTS(SWAPMEET_TAKE_CONSTANT)
  take(OMPI_C_MPI_COMM_NULL_COPY_FN, "MPI_COMM_NULL_COPY_FN", mpi_symbol("OMPI_C_MPI_COMM_NULL_COPY_FN"));
#endif
  if (!missing.empty()) return "the MPI of this process has no " + missing;
  take_what_is_missing();
  host_is_mpich = descends_from_mpich();
  return "";
}

std::string try_to_find() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (mpi_found.load(std::memory_order_relaxed)) return "";
  const std::string problem = take_all();
  if (problem.empty()) mpi_found.store(true, std::memory_order_release);
  return problem;
}

}  // namespace

void* mpi_symbol(const char* name) {
  if (void* const found = dlsym(RTLD_NEXT, name)) return found;
  static std::atomic<void*> hidden{nullptr};
  if (!hidden && !dlsym(RTLD_NEXT, known)) hidden = hidden_mpi();
  return hidden ? dlsym(hidden, name) : nullptr;
}

void* needed_mpi_symbol(const char* name) {
  if (void* const found = mpi_symbol(name)) return found;
  say(std::string("error: ") + name + " is called, but was not found in any MPI of this process");
  std::_Exit(EXIT_FAILURE);
}

bool find_mpi() { return mpi_found.load(std::memory_order_acquire) || try_to_find().empty(); }

bool mpi_suits_slowly() {
  static std::atomic<bool> foreign{false};
  if (foreign.load(std::memory_order_acquire)) return false;
  const std::string problem = try_to_find();
  if (problem.empty()) return true;
  if (!foreign.exchange(true))
    say("warning: " + problem +
        "; passing everything on to it. Preload what `swapmeet lib --mpi NAME` prints for its MPI, or "
        "start it by `swapmeet run`.");
  return false;
}

}  // namespace swapmeet
