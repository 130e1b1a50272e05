/// Type maps of MPI datatypes, which are read from the arguments that each type was constructed with.
#pragma once

#include <memory>

#include "mpi/mpi.hpp"
#include "typemap/type_map.hpp"

namespace swapmeet {

bool is_predefined(MPI_Datatype type);

/// Reads the type map of `type`. Returns nullptr if its elements have no data, if the places of their bytes cannot be
/// found, so that only MPI can pack them, or if there is no memory. Local.
std::unique_ptr<const TypeMap> read_type_map(MPI_Datatype type);

}  // namespace swapmeet
