/// Copies of the arrays and datatypes to which the description of one side of an all-to-all refers. They serve calls that
/// outlive the function which received their arguments.
#pragma once

#include <vector>

#include "buffers/blocks.hpp"

namespace swapmeet {

class KeptArrays {
 public:
  KeptArrays() = default;
  KeptArrays(const KeptArrays&) = delete;
  KeptArrays& operator=(const KeptArrays&) = delete;
  ~KeptArrays();

  /// Copies all that the description of these `count` blocks refers to, and lets it refer to the copies. To be called
  /// once. Throws MpiError if a type cannot be copied.
  void keep(Blocks& blocks, int count);

  /// Whether there are copies of derived types. If not, the application cannot notice that the description is kept.
  bool hold_types() const { return !held_.empty(); }

  /// Frees the copies of types. The description may not be used afterwards.
  void free_types();

 private:
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> displacements_;
  std::vector<Datatype> types_;
  std::vector<MPI_Datatype> held_;
};

}  // namespace swapmeet
