#include "mpi/datatype.hpp"

namespace swapmeet {

const Datatype& byte_type() {
  static const Datatype byte{MPI_BYTE, 1, 1, true};
  return byte;
}

const Datatype& Datatypes::ask(MPI_Datatype handle) {
  MPI_Aint lower_bound = 0, extent = 0;
  MPI_Count size = 0;
  int integers = 0, addresses = 0, types = 0, combiner = MPI_UNDEFINED;
  PMPI_Type_get_extent(handle, &lower_bound, &extent);
  PMPI_Type_size_x(handle, &size);
  PMPI_Type_get_envelope(handle, &integers, &addresses, &types, &combiner);
  // Equal size and extent do not make a derived type contiguous: its parts may come in another order.
  const bool predefined = combiner == MPI_COMBINER_NAMED;
  if (&known_[next_ % known_.size()] == last_) ++next_;
  Datatype& type = predefined ? known_[next_++ % known_.size()] : derived_[next_derived_++ % derived_.size()];
  return type = {handle, size, extent, predefined && size == extent};
}

std::span<const Datatype> BlockTypes::look_up(Datatypes& types, const MPI_Datatype* handles, std::size_t ranks) {
  static const Datatype none{MPI_DATATYPE_NULL, 0, 0, true};
  types_.resize(ranks);
  for (std::size_t i = 0; i < ranks; ++i)
    types_[i] = handles[i] == MPI_DATATYPE_NULL         ? none
                : i > 0 && handles[i] == handles[i - 1] ? types_[i - 1]
                                                        : types[handles[i]];
  return types_;
}

}  // namespace swapmeet
