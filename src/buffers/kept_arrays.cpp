#include "buffers/kept_arrays.hpp"

#include <utility>

#include "mpi/guard.hpp"

namespace swapmeet {

KeptArrays::~KeptArrays() {
  int finalised = 0;
  PMPI_Finalized(&finalised);
  if (!finalised) free_types();
}

void KeptArrays::keep(Blocks& blocks, int count) {
  const int types = blocks.has_type_for_each() ? count : 1;
  types_.reserve(static_cast<std::size_t>(types));
  for (int i = 0; i < types; ++i) {
    if (i > 0 && blocks.type(i).handle == blocks.type(i - 1).handle) {
      types_.push_back(types_.back());
      continue;
    }
    types_.push_back(blocks.type(i));
    if (types_.back().predefined) continue;
    held_.push_back(MPI_DATATYPE_NULL);
    if (const int error = copy_type(blocks.type(i).handle, &held_.back())) {
      held_.pop_back();
      throw MpiError(error);
    }
    // The record of the copy: the application may free its type, and the record of that ends then.
    types_.back() = Datatypes()[held_.back()];
  }
  if (!blocks.equal()) {
    counts_.reserve(static_cast<std::size_t>(count));
    displacements_.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      counts_.push_back(blocks.count(i));
      displacements_.push_back(blocks.displacement(i));
    }
  }
  blocks.refer_to(counts_.data(), displacements_.data(), types_);
}

void KeptArrays::free_types() {
  for (MPI_Datatype& copy : std::exchange(held_, {})) PMPI_Type_free(&copy);
}

}  // namespace swapmeet
