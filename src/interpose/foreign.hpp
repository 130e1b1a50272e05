/// Forwarding of calls to an MPI of another kind than this library was built for. Handles of that MPI have no meaning
/// here, so such a call is passed on with its arguments unchanged.
#pragma once

#include <cstdint>
#include <type_traits>

#include "api/export.hpp"
#include "mpi/mpi.hpp"

namespace swapmeet {

/// A handle of any MPI, whether an int or a pointer, in the form in which a register or a stack slot holds it.
using Handle = void*;

/// Converts `handle` to a handle of the MPI that this library was built for.
template <class Type>
Type as(Handle handle) {
  if constexpr (std::is_pointer_v<Type>) return static_cast<Type>(handle);
  else return static_cast<Type>(reinterpret_cast<std::intptr_t>(handle));
}

/// Calls a function of the host MPI, given its address or its name, and returns its result.
template <class... Arguments>
int pass_on(void* function, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}
template <class... Arguments>
int pass_on(const char* name, Arguments... arguments) {
  return pass_on(needed_mpi_symbol(name), arguments...);
}

}  // namespace swapmeet

// Defines the exported function `name`. Handle parameters have the type Handle, because the application may use another
// MPI than this library was built for; its call is then passed on unchanged. mpi.h has declared `name` with other
// types, so the C++ function is called entry_name, and only the assembler symbol of a second name is `name`. The library
// calls entry_name: `name` is the host MPI's where that was loaded first.
#define SWAPMEET_NAMED(name, parameters)                                                                \
  extern "C" __attribute__((visibility("hidden"))) int entry_##name parameters;                         \
  SWAPMEET_EXPORT int exported_##name parameters __asm__(#name) __attribute__((alias("entry_" #name))); \
  int entry_##name parameters

#define SWAPMEET_FIRST(first, ...) first

// Defines an MPI function under both of its names, MPI_ and PMPI_. `entry` is the macro that defines one of them. It
// gets the name to define, the PMPI_ name, and the further arguments.
#define SWAPMEET_ENTRIES(entry, Name, ...) \
  entry(MPI_##Name, PMPI_##Name __VA_OPT__(, ) __VA_ARGS__) entry(PMPI_##Name, PMPI_##Name __VA_OPT__(, ) __VA_ARGS__)
