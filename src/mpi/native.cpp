#include "mpi/native.hpp"

namespace swapmeet {

const Native& native() {
#define SWAPMEET_FIND(member, name) reinterpret_cast<decltype(Native::member)>(needed_mpi_symbol("PMPI_" #name)),
  static const Native all{SWAPMEET_NATIVE(SWAPMEET_FIND)};
#undef SWAPMEET_FIND
  return all;
}

}  // namespace swapmeet
