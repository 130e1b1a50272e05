#include "buffers/owned_blocks.hpp"

#include <utility>

#include "mpi/guard.hpp"

namespace swapmeet {

void OwnedBlocks::keep(std::span<const MPI_Datatype> types) {
  Datatypes known;
  BlockTypes all;
  const std::span<const Datatype> found = all.look_up(known, types.data(), types.size());
  types_.assign(found.begin(), found.end());
  handles_.reserve(types_.size());
  copies_.reserve(types_.size());
  for (std::size_t i = 0; i < types_.size(); ++i) {
    Datatype& type = types_[i];
    if (i > 0 && types[i] == types[i - 1]) {
      type = types_[i - 1];
    } else if (!type.predefined) {
      if (const int error = copy_type(types[i], &type.handle)) {
        free_types();
        throw MpiError(error);
      }
      copies_.push_back(type.handle);
      type = known[type.handle];  // of the copy: the application may free its type, and the record of it then ends, too
    }
    handles_.push_back(type.handle);
  }
}

OwnedBlocks::~OwnedBlocks() {
  int finalised = 0;
  PMPI_Finalized(&finalised);
  if (!finalised) free_types();
}

void OwnedBlocks::free_types() {
  for (MPI_Datatype& copy : std::exchange(copies_, {})) PMPI_Type_free(&copy);
}

Blocks OwnedBlocks::blocks() const {
  if (const auto* const count = std::get_if<std::int64_t>(&sizes_)) return {base_, *count, types_.front()};
  const auto with = [&](const auto& arrays) {
    if (each_has_type_)
      return Blocks(base_, arrays.counts.data(), arrays.displacements.data(), std::span<const Datatype>(types_));
    return Blocks(base_, arrays.counts.data(), arrays.displacements.data(), types_.front());
  };
  if (const auto* const arrays = std::get_if<1>(&sizes_)) return with(*arrays);
  if (const auto* const arrays = std::get_if<2>(&sizes_)) return with(*arrays);
  return with(std::get<3>(sizes_));
}

}  // namespace swapmeet
