#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <mutex>
#include <string>

#include "mpi/kind.hpp"
#include "mpi/loaded.hpp"
#include "mpi/mpi.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

namespace {

/// The kind of the MPI that this library was built for; nullptr if it is unknown.
constexpr const MpiKind* built_for =
#if defined(OMPI_MAJOR_VERSION)
    &open_mpi_kind;
#elif defined(MPICH_VERSION)
    &mpich_kind;
#elif defined(MPI_ABI_VERSION)
    &standard_kind;
#elif defined(SMPI_H)
    &simgrid_kind;
#else
    nullptr;
#endif

constexpr const char* known = "PMPI_Comm_rank";  ///< a symbol that every MPI defines

std::atomic<NextDefinition*> front{nullptr};  ///< the argument of look_behind()

/// The next definition of `name` after this library in the search order. If a front has loaded this library, the search
/// begins after the front: no MPI follows an object that was loaded late.
void* next_definition(const char* name) {
  NextDefinition* const behind_front = front.load(std::memory_order_acquire);
  return behind_front ? behind_front(name) : dlsym(RTLD_NEXT, name);
}

/// The MPI among all loaded objects. It is needed because mpi4py loads the MPI with RTLD_LOCAL, and RTLD_NEXT does not
/// find such objects. The MPI then stays loaded.
void* hidden_mpi() {
  char path[PATH_MAX];
  return find_object(known, "swapmeet_built_for", path, sizeof path) ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
}

#ifdef OMPI_MAJOR_VERSION
/// The address of a variable of the MPI. The linker may have moved it into the executable (a copy relocation), which
/// comes before this library in the search order.
void* mpi_variable(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  return found ? found : mpi_symbol(name);
}
#endif

/// The kind of the MPI of this process. An MPI of unknown kind is assumed to have MPICH's handles, as many MPIs do.
const MpiKind* kind_here() {
  const MpiKind* const kind = kind_of_mpi(mpi_symbol);
  return kind ? kind : &mpich_kind;
}

/// Finds all functions and constants. Returns "", or a description of the problem.
std::string take_all() {
  std::string missing;
  const auto take = [&missing](auto& place, const char* name, auto* found) {
    place = found;
    if (!found && missing.empty()) missing = name;
  };
  if (!mpi_symbol("PMPI_Initialized")) return "there is no MPI in this process";
  // `expected` is not constant: compilers would warn that it is never null.
  const MpiKind *const kind = kind_here(), *expected = built_for;
  if (expected && kind != expected)
    return std::string("this libswapmeet.so was built for ") + expected->name + ", but the application uses " +
           kind->name;
#define SWAPMEET_FIND(name) reinterpret_cast<decltype(&::name)>(mpi_symbol(#name))
#define SWAPMEET_TAKE(name) take(PMPI_##name, "PMPI_" #name, SWAPMEET_FIND(PMPI_##name));
  SWAPMEET_MPI_CALLS(SWAPMEET_TAKE)
  SWAPMEET_MPI_LARGE_CALLS(SWAPMEET_TAKE)
  SWAPMEET_MPI_LOCAL_CALLS(SWAPMEET_TAKE)
  SWAPMEET_MPI_LOCAL_LARGE_CALLS(SWAPMEET_TAKE)
  SWAPMEET_MPI_CONVERSIONS(SWAPMEET_TAKE)
#ifdef OMPI_MAJOR_VERSION
#define SWAPMEET_TAKE_CONSTANT(name) take(open_mpi::name, #name, mpi_variable(#name));
  SWAPMEET_OPEN_MPI_CONSTANTS(SWAPMEET_TAKE_CONSTANT)
  open_mpi::ompi_mpi_errors_abort = mpi_variable("ompi_mpi_errors_abort");
  take(OMPI_C_MPI_COMM_NULL_COPY_FN, "MPI_COMM_NULL_COPY_FN", SWAPMEET_FIND(OMPI_C_MPI_COMM_NULL_COPY_FN));
#endif
  if (!missing.empty()) return "the MPI of this process has no " + missing;
  replace_missing_functions();
  host_is_mpich = descends_from_mpich(library_version().c_str());
  return "";
}

/// Calls take_all() unless the MPI has been found. Returns as take_all() does. Thread-safe.
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
  if (void* const found = next_definition(name)) return found;
  static std::atomic<void*> hidden{nullptr};
  if (!hidden && !next_definition(known)) hidden = hidden_mpi();
  return hidden ? dlsym(hidden, name) : nullptr;
}

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  return {text, static_cast<std::size_t>(length)};
}

void look_behind(NextDefinition* front_looks) { front.store(front_looks, std::memory_order_release); }

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
