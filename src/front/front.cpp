/// The front: one libswapmeet.so that a site preloads for all users (docs/howto/site.md). It defines each MPI function
/// that the libraries of Swapmeet export as a trampoline (trampolines.S). The first call of one finds the kind of the
/// process's MPI and loads the library for it from swapmeet/KIND beside this file. Calls then go to that library, or to
/// the MPI itself if there is no such library.
///
/// A function of MPI must be visible here only if another object defines it, too. Programs test by weak references
/// whether there is an MPI, and mpi4py tests so whether it has MPI_Alltoall_c. So, as soon as the process has begun,
/// the front turns its symbols into indirect functions, of which the loader asks the address whenever it binds one.
/// Before that they are plain functions, because the loader reports an error for indirect functions of an object that
/// is not relocated yet.
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>

#include "mpi/kind.hpp"
#include "mpi/loaded.hpp"

extern "C" {
#define SWAPMEET_HIDDEN __attribute__((visibility("hidden")))
extern SWAPMEET_HIDDEN void* const swapmeet_front_entries[];
extern SWAPMEET_HIDDEN void* const swapmeet_front_binders[];
extern SWAPMEET_HIDDEN std::atomic<void*> swapmeet_front_slots[];
SWAPMEET_HIDDEN void* swapmeet_front_bind(unsigned number);
SWAPMEET_HIDDEN void* swapmeet_front_resolve(unsigned number);
}

namespace swapmeet {

namespace {

constexpr const char* names[] = {
#define SWAPMEET_NAME(name) #name,
#include "front/names.hpp"
#undef SWAPMEET_NAME
};

constexpr const char* of_every_mpi = "PMPI_Comm_rank";          ///< a symbol that every MPI defines
constexpr const char* of_our_libraries = "swapmeet_built_for";  ///< a symbol that every library of Swapmeet defines

/// The folder of this file, resolved when the process begins: a symbolic link may point elsewhere when the library is
/// loaded.
char folder[PATH_MAX];

/// Whether the front must do nothing: the user has set SWAPMEET_PRELOAD=0, or the process has more rights than its
/// user.
bool switched_off() {
  const char* const wish = std::getenv("SWAPMEET_PRELOAD");
  return getauxval(AT_SECURE) || (wish && std::strcmp(wish, "0") == 0);
}

/// Prints one line on standard error.
void say(const char* what, const char* of, const char* why = "", const char* then = "") {
  char line[3 * PATH_MAX];
  const int length = std::snprintf(line, sizeof line, "swapmeet: %s%s%s%s\n", what, of, why, then);
  if (length > 0 &&
      write(STDERR_FILENO, line, static_cast<std::size_t>(length) < sizeof line ? length : sizeof line - 1) < 0)
    return;  // a failure to print is ignored
}

/// Prints one line as say() does, but once in the process, and on rank 0 of a job only, if the launcher's environment
/// variables show the rank.
void say_once(const char* what, const char* of, const char* why, const char* then = "") {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  for (const char* const rank : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* const value = std::getenv(rank))
      return std::strcmp(value, "0") == 0 ? say(what, of, why, then) : void();
  say(what, of, why, then);
}

/// The MPI if it was loaded with RTLD_LOCAL, so that dlsym() does not find its symbols in the global scope; nullptr if
/// there is none. From then on the MPI stays loaded.
void* hidden_mpi() {
  static std::atomic<void*> found{nullptr};
  char path[PATH_MAX];
  if (!found && find_object(of_every_mpi, of_our_libraries, path, sizeof path))
    found = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  return found;
}

/// The next definition of `name` after the front in the loader's search order: the function of a tool, or of the MPI.
/// dlsym() finds the calling object by its return address, so the compiler must not turn the call into a jump (a tail
/// call): the library calls this function, too.
[[gnu::noinline]] void* next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  __asm__ volatile("" : "+r"(found));
  return found;
}

/// The next definition of `name`, or that of an MPI that was loaded with RTLD_LOCAL.
void* of_host(const char* name) {
  if (void* const found = next(name)) return found;
  void* const hidden = next(of_every_mpi) ? nullptr : hidden_mpi();
  return hidden ? dlsym(hidden, name) : nullptr;
}

/// Loads the library for an MPI of this kind. If there is no usable one, prints a warning and returns nullptr.
void* load(const MpiKind& kind) {
  constexpr const char* instead = "; all-to-alls are the MPI's own (SWAPMEET_PRELOAD=0 silences this)";
  char path[PATH_MAX + 64];
  std::snprintf(path, sizeof path, "%s/swapmeet/%s/libswapmeet.so", folder, kind.folder);
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);  // local: next() must find the MPI, not the library
  if (!library) {
    const char* const why = dlerror();
    say_once("warning: ", why ? why : path, "", instead);
    return nullptr;
  }
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(library, "swapmeet_version"));
  const auto look_behind = reinterpret_cast<void (*)(void* (*)(const char*))>(dlsym(library, "swapmeet_behind_front"));
  if (!version || !look_behind || std::strcmp(version(), SWAPMEET_VERSION) != 0) {
    say_once("warning: ", path, " is of another version than the file that is preloaded, " SWAPMEET_VERSION, instead);
    dlclose(library);
    return nullptr;
  }
  look_behind(next);
  const char* const explain = std::getenv("SWAPMEET_EXPLAIN");
  if (explain && std::strcmp(explain, "1") == 0) say_once(kind.name, " is served by ", path);
  return library;
}

/// The library that serves this process, once that is decided.
struct Service {
  std::atomic<bool> decided{false};
  std::atomic<void*> library{nullptr};  ///< nullptr if there is none, or one that is preloaded or linked itself
} service;

/// Finds the MPI and loads the library for it. Several threads may do so at the same time; they find the same. The
/// function takes no lock, because the loader may hold its own lock while it waits for one of these threads.
void decide() {
  void* library = nullptr;
  // If a library is preloaded or linked itself, it serves the process. Of several fronts, the last one serves.
  if (!switched_off() && !dlsym(RTLD_DEFAULT, of_our_libraries) && !next("swapmeet_front_library")) {
    const MpiKind* const kind = kind_of_mpi(of_host);
    if (kind && kind->folder) library = load(*kind);
  }
  void* before = nullptr;
  if (library) service.library.compare_exchange_strong(before, library);
  service.decided.store(true, std::memory_order_release);
}

/// Turns the symbols into indirect functions, or, if `hide`, into local symbols, which no other object sees. Changes
/// the symbol table of this object in memory. If that is not possible, the symbols stay as they are.
void change_names(bool hide) {
  dl_phdr_info self{};
  self.dlpi_addr = reinterpret_cast<ElfW(Addr)>(&own_header);
  self.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(self.dlpi_addr + own_header.e_phoff);
  self.dlpi_phnum = own_header.e_phnum;
  ElfW(Sym) * symbols[std::size(names)];
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  for (std::size_t number = 0; number < std::size(names); ++number) {
    symbols[number] = const_cast<ElfW(Sym)*>(symbol_of(self, names[number]));
    if (!symbols[number]) return;
    const auto address = reinterpret_cast<std::uintptr_t>(symbols[number]);
    if (address < begin) begin = address;
    if (address + sizeof(ElfW(Sym)) > end) end = address + sizeof(ElfW(Sym));
  }
  begin -= begin % static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, end - begin, PROT_READ | PROT_WRITE) != 0) return;
  for (std::size_t number = 0; number < std::size(names); ++number) {
    symbols[number]->st_info = hide ? ELF64_ST_INFO(STB_LOCAL, STT_FUNC) : ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
    if (!hide)
      symbols[number]->st_value = reinterpret_cast<ElfW(Addr)>(swapmeet_front_binders[number]) - self.dlpi_addr;
  }
  mprotect(pages, end - begin, PROT_READ);
}

__attribute__((constructor)) void begin() {
  Dl_info self;
  if (dladdr(&own_header, &self) == 0 || !realpath(self.dli_fname, folder)) folder[0] = '\0';
  if (char* const name = std::strrchr(folder, '/')) *name = '\0';
  change_names(switched_off());
}

}  // namespace

}  // namespace swapmeet

/// Called by the loader, which holds its locks, when it binds the symbol with this number. Returns its address, or
/// nullptr if no other object defines it.
void* swapmeet_front_bind(unsigned number) {
  char path[PATH_MAX];
  const bool defined = swapmeet::find_object(swapmeet::names[number], swapmeet::of_our_libraries, path, sizeof path);
  return defined ? swapmeet_front_entries[number] : nullptr;
}

/// Called at the first call of the function with this number. Returns the function to call, and stores it in the slot
/// for later calls if the process has an MPI. Ends the process if there is no such function. Preserves errno.
void* swapmeet_front_resolve(unsigned number) {
  const int error = errno;
  const char* const name = swapmeet::names[number];
  const bool is_mpi = swapmeet::of_host(swapmeet::of_every_mpi) != nullptr;
  if (is_mpi && !swapmeet::service.decided.load(std::memory_order_acquire)) swapmeet::decide();
  void* const library = swapmeet::service.library.load();
  void* target = library ? dlsym(library, name) : nullptr;
  if (!target) target = swapmeet::of_host(name);
  if (!target) {
    swapmeet::say("error: ", name, " is called, but was not found in any MPI of this process");
    std::_Exit(EXIT_FAILURE);
  }
  if (is_mpi) swapmeet_front_slots[number].store(target, std::memory_order_release);
  errno = error;
  return target;
}

/// The handle of the library that serves this process, for swapmeet.exchange (Python); nullptr if there is none (yet).
extern "C" __attribute__((visibility("default"))) void* swapmeet_front_library() {
  return swapmeet::service.library.load();
}
