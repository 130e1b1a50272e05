/// The type maps of MPI's datatypes: by what each was made of.
#pragma once

#include <memory>

#include "mpi/mpi.hpp"
#include "typemap/type_map.hpp"

namespace swapmeet {

bool is_predefined(MPI_Datatype type);

/// nullptr: its elements have no data, or their bytes cannot be said: only MPI can pack them.
std::unique_ptr<const TypeMap> read_type_map(MPI_Datatype type);

}  // namespace swapmeet
