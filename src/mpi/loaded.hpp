/// Search for symbols in the shared objects that the process has loaded, by the tables of the objects themselves. It
/// also works where dlopen() and dlsym() must not be called. In contrast to dlsym(), it does not find symbols of an
/// object's dependencies. This file does not include mpi.h, and needs no C++ runtime.
#pragma once

#include <link.h>

#include <cstddef>

namespace swapmeet {

/// The beginning of the shared object that contains this code. The linker defines it.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): this is no definition
extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) own_header __asm__("__ehdr_start");

/// The symbol of that name that `object` defines, or nullptr.
const ElfW(Sym) * symbol_of(const dl_phdr_info& object, const char* name);

/// Finds the first object that defines `name`, but not `lacked`, and writes its path to `path`, which has `room` bytes.
/// Returns false if there is none. The search omits the program itself and the object that contains this code.
bool find_object(const char* name, const char* lacked, char* path, std::size_t room);

}  // namespace swapmeet
