/// What a front asks of the library that it has loaded (src/front/front.cpp); no part of the interface for programs.
#include "api/export.hpp"
#include "mpi/mpi.hpp"

SWAPMEET_EXPORT void swapmeet_behind_front(swapmeet::NextDefinition* next) { swapmeet::look_behind(next); }
