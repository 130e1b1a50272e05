/// Messages of more bytes than their receivers expect: how a rank that has no data tells those that wait for them, at no
/// cost where nothing has failed. MPI reports such a message as truncated.
#pragma once

#include "mpi/mpi.hpp"

namespace swapmeet {

class Oversize {
 public:
  Oversize() = default;
  Oversize(const Oversize&) = delete;
  Oversize& operator=(const Oversize&) = delete;
  ~Oversize();

  /// More than so many bytes, of no meaning. Needs no memory but the MPI's for a datatype.
  Part more_than(std::int64_t bytes);

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::int64_t chunks_ = 0;  ///< of type_
};

}  // namespace swapmeet
