/// The front: one libswapmeet.so that a site preloads for everybody (docs/howto/site.md). The names of MPI that the libraries
/// export are trampolines here (trampolines.S). At the first call of one it is seen which MPI the process has, the library
/// for it is loaded from swapmeet/KIND beside this file, and calls go to that; to the MPI itself, where there is none.
///
/// A name is to be there only where somebody else defines it, too: programs ask by weak references whether there is an MPI,
/// and mpi4py whether it has MPI_Alltoall_c. So, as soon as the process has begun, the names are made indirect functions,
/// which the loader asks for their address whenever it binds them. Before, they are plain ones: the loader would complain
/// about indirect functions of an object that is not ready yet.
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

constexpr const char* of_every_mpi = "PMPI_Comm_rank";
constexpr const char* of_our_libraries = "swapmeet_built_for";

/// This file's folder, as it was when the process began: a link may name another one when the library is loaded.
char folder[PATH_MAX];

/// Whether this user wants nothing of us, or the process has more rights than its user.
bool switched_off() {
  const char* const wish = std::getenv("SWAPMEET_PRELOAD");
  return getauxval(AT_SECURE) || (wish && std::strcmp(wish, "0") == 0);
}

/// One line to standard error.
void say(const char* what, const char* of, const char* why = "", const char* then = "") {
  char line[3 * PATH_MAX];
  const int length = std::snprintf(line, sizeof line, "swapmeet: %s%s%s%s\n", what, of, why, then);
  if (length > 0 &&
      write(STDERR_FILENO, line, static_cast<std::size_t>(length) < sizeof line ? length : sizeof line - 1) < 0)
    return;  // nobody reads it
}

/// The same by one of the threads that see it at once, and of the ranks of a job by the first, as far as its launcher says
/// which that is.
void say_once(const char* what, const char* of, const char* why, const char* then = "") {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  for (const char* const rank : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* const value = std::getenv(rank))
      return std::strcmp(value, "0") == 0 ? say(what, of, why, then) : void();
  say(what, of, why, then);
}

/// The MPI that is out of sight, since somebody has loaded it for himself alone; from then on it stays loaded.
void* hidden_mpi() {
  static std::atomic<void*> found{nullptr};
  char path[PATH_MAX];
  if (!found && find_object(of_every_mpi, of_our_libraries, path, sizeof path))
    found = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  return found;
}

/// What is behind us in the order in which the loader looks: a tool's function, or the MPI's. Who "us" is dlsym() sees by
/// where it returns to, so it must not be jumped to: the library calls this, too.
[[gnu::noinline]] void* next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  __asm__ volatile("" : "+r"(found));
  return found;
}

/// The same, or of an MPI that is out of sight.
void* of_host(const char* name) {
  if (void* const found = next(name)) return found;
  void* const hidden = next(of_every_mpi) ? nullptr : hidden_mpi();
  return hidden ? dlsym(hidden, name) : nullptr;
}

/// Loads the library for an MPI of this kind; nullptr: there is none that we can use, which is said.
void* load(const MpiKind& kind) {
  constexpr const char* instead = "; all-to-alls are the MPI's own (SWAPMEET_PRELOAD=0 silences this)";
  char path[PATH_MAX + 64];
  std::snprintf(path, sizeof path, "%s/swapmeet/%s/libswapmeet.so", folder, kind.folder);
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);  // local: what is behind us is to be the MPI
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

/// What serves this process, once that is known.
struct Service {
  std::atomic<bool> decided{false};
  std::atomic<void*> library{nullptr};  ///< nullptr: nothing of ours, or another one that programs have by themselves
} service;

/// Sees which MPI there is. Several threads may do so at once, and find the same; nothing is locked, for the loader may
/// hold its lock and wait for one of them.
void decide() {
  void* library = nullptr;
  // A library that is preloaded or linked serves, and so does the last of several fronts.
  if (!switched_off() && !dlsym(RTLD_DEFAULT, of_our_libraries) && !next("swapmeet_front_library")) {
    const MpiKind* const kind = kind_of_mpi(of_host);
    if (kind && kind->folder) library = load(*kind);
  }
  void* before = nullptr;
  if (library) service.library.compare_exchange_strong(before, library);
  service.decided.store(true, std::memory_order_release);
}

/// Makes the names indirect functions; or takes them out of sight, where nothing is wanted of us.
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
  if (mprotect(pages, end - begin, PROT_READ | PROT_WRITE) != 0) return;  // then they stay what they are
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

/// Called by the loader, which holds its locks.
void* swapmeet_front_bind(unsigned number) {
  char path[PATH_MAX];
  const bool defined = swapmeet::find_object(swapmeet::names[number], swapmeet::of_our_libraries, path, sizeof path);
  return defined ? swapmeet_front_entries[number] : nullptr;
}

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

/// Where swapmeet.exchange finds the library that serves this process; nullptr: there is none (yet).
extern "C" __attribute__((visibility("default"))) void* swapmeet_front_library() {
  return swapmeet::service.library.load();
}
