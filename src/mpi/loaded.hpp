/// What the process has loaded, by the tables of the objects themselves: to be asked also where dlopen() and dlsym() may not
/// be called, and nothing that merely depends on an object is taken for it. Knows no mpi.h, and needs no C++ runtime.
#pragma once

#include <link.h>

#include <cstddef>

namespace swapmeet {

/// Where the object begins that this is part of. The linker defines it.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): this is no definition
extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) own_header __asm__("__ehdr_start");

/// The symbol of that name that an object defines; nullptr if it has none.
const ElfW(Sym) * symbol_of(const dl_phdr_info& object, const char* name);

/// The path of the first object that defines `name`, but not `lacked`; false if there is none. Neither the program itself nor
/// the object that this is part of is looked at.
bool find_object(const char* name, const char* lacked, char* path, std::size_t room);

}  // namespace swapmeet
