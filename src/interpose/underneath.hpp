/// Functions of the MPI underneath that may be called before we know that it is of our kind, for no handles are looked at.
#pragma once

#include <cstdlib>
#include <string>

#include "execute/mpi.hpp"
#include "execute/report.hpp"

namespace swapmeet {

template <class Function>
Function underneath(const char* name) {
  if (void* const found = mpi_symbol(name)) return reinterpret_cast<Function>(found);
  say(std::string("error: ") + name + " was not found in the MPI of this process");
  std::abort();
}

}  // namespace swapmeet
