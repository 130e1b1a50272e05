/// What we need to know of a datatype.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "mpi/mpi.hpp"
#include "typemap/type_map.hpp"

namespace swapmeet {

struct Datatype {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  std::int64_t size = 0;    ///< bytes of data in one element
  std::int64_t extent = 0;  ///< bytes from one element to the next
  /// Whether the data of elements are their bytes in memory, in order and without gaps.
  bool contiguous = false;
  bool predefined = false;  ///< so the handle is never freed, nor used again for another
  bool committed = false;   ///< as far as is known: remember_committed()
  const TypeMapView* map =
      nullptr;  ///< where the bytes are; nullptr: contiguous, without data, or only MPI can pack it

  /// Whether we know where its bytes are.
  bool mapped() const { return contiguous || map || size == 0; }
};

/// Makes a type of the same data, committed, which is the caller's to free. (MPI_Type_dup would call the application's
/// attribute callbacks.) Returns as MPI does.
int copy_type(MPI_Datatype type, MPI_Datatype* copy);

/// Has MPI remember that it accepts a derived type, as long as the type lives: then it is committed for good.
void remember_committed(const Datatype& type);

/// What bytes are.
const Datatype& byte_type();

/// Asks MPI, and remembers some predefined types; what takes long to find out of a derived type, MPI keeps for us as an
/// attribute of the type, which ends with it. For one thread at a time.
class Datatypes {
 public:
  /// Valid until two more types have been looked up: those of the two sides of a call are valid together.
  const Datatype& operator[](MPI_Datatype handle) {
    for (const Datatype& known : known_)
      if (known.handle == handle) return *(last_ = &known);
    return *(last_ = &ask(handle));
  }

 private:
  const Datatype& ask(MPI_Datatype handle);
  std::array<Datatype, 4> known_{};    ///< MPI_DATATYPE_NULL is never looked up
  std::array<Datatype, 2> derived_{};  ///< the last two
  std::size_t next_ = 0, next_derived_ = 0;
  const Datatype* last_ = nullptr;  ///< that was looked up: not to be overwritten by the next
};

/// The types of the blocks of one side of an MPI_Alltoallw. For one thread at a time.
class BlockTypes {
 public:
  /// One for each block. MPI_DATATYPE_NULL counts as a type without data. Valid until the next call.
  std::span<const Datatype> look_up(Datatypes& types, const MPI_Datatype* handles, std::size_t blocks);

 private:
  std::vector<Datatype> types_;
};

}  // namespace swapmeet
