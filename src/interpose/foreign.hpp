/// Calls to an MPI of another kind than we were built for, whose handles mean nothing here: they go on as they came.
#pragma once

#include <cstdint>
#include <type_traits>

#include "api/export.hpp"
#include "mpi/mpi.hpp"

namespace swapmeet {

/// A handle of whatever MPI, an int or a pointer, as a register or a place on the stack holds it.
using Handle = void*;

/// What it is for the MPI that we were built for.
template <class Type>
Type as(Handle handle) {
  if constexpr (std::is_pointer_v<Type>) return static_cast<Type>(handle);
  else return static_cast<Type>(reinterpret_cast<std::intptr_t>(handle));
}

/// The way back.
template <class Type>
Handle handle_of(Type of_mpi) {
  if constexpr (std::is_pointer_v<Type>) return of_mpi;
  else return reinterpret_cast<Handle>(static_cast<std::intptr_t>(of_mpi));
}

/// Calls a function of the host MPI, by its address or its name.
template <class... Arguments>
int pass_on(void* function, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}
template <class... Arguments>
int pass_on(const char* name, Arguments... arguments) {
  return pass_on(needed_mpi_symbol(name), arguments...);
}

}  // namespace swapmeet

// Handles are taken as they come: where they are those of another MPI than we were built for, the call goes on as it
// came. The name that programs call is only the assembler's, for mpi.h has declared it otherwise.
#define SWAPMEET_NAMED(name, parameters)                      \
  SWAPMEET_EXPORT int entry_##name parameters __asm__(#name); \
  int entry_##name parameters

#define SWAPMEET_FIRST(first, ...) first

// By both of its names: entry, what MPI calls it, and what else the entry takes.
#define SWAPMEET_ENTRIES(entry, Name, ...) \
  entry(MPI_##Name, PMPI_##Name, __VA_ARGS__) entry(PMPI_##Name, PMPI_##Name, __VA_ARGS__)
