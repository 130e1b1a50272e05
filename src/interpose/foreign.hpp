/// Calls to an MPI of another kind than we were built for, whose handles mean nothing here: they go on as they came.
#pragma once

#include <cstdint>
#include <type_traits>

#include "execute/mpi.hpp"

namespace swapmeet {

/// A handle of whatever MPI, an int or a pointer, as a register or a place on the stack holds it.
using Handle = void*;

/// What it is for the MPI that we were built for.
template <class Type>
Type as(Handle handle) {
  if constexpr (std::is_pointer_v<Type>)
    return static_cast<Type>(handle);
  else
    return static_cast<Type>(reinterpret_cast<std::intptr_t>(handle));
}

/// Calls the function of that name of the MPI underneath.
template <class... Arguments>
int pass_on(const char* name, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(needed_mpi_symbol(name))(arguments...);
}

}  // namespace swapmeet
