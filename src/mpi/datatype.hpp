/// Datatypes, with the properties that exchanges need.
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
  bool predefined = false;  ///< if so, its handle is never freed, nor reused for another type
  bool committed = false;   ///< if known; see remember_committed()
  /// The places of its bytes; nullptr if it is contiguous, has no data, or only MPI can pack it.
  const TypeMapView* map = nullptr;

  /// Whether the places of its bytes are known, so that it can be packed without MPI.
  bool mapped() const { return contiguous || map || size == 0; }
};

/// Makes a committed type of the same data, which the caller must free. (MPI_Type_dup would call the application's
/// attribute callbacks.) Local. Returns an MPI error code.
int copy_type(MPI_Datatype type, MPI_Datatype* copy);

/// Records that MPI has accepted a derived type, which is therefore committed. MPI keeps the record as an attribute of
/// the type, for as long as the type lives.
void remember_committed(const Datatype& type);

/// The datatypes MPI_BYTE and MPI_PACKED.
const Datatype& byte_type();
const Datatype& packed_type();

/// Looks up datatypes in MPI. The last few predefined types are cached here. For derived types, the costly properties
/// are kept as an attribute of the type, which ends with it. One thread may use it at a time.
class Datatypes {
 public:
  /// Looks up a type. The reference is valid until two more types have been looked up, so that the types of the two
  /// sides of a call are valid together. Throws MpiError if `handle` is no type.
  [[gnu::always_inline]] const Datatype& operator[](MPI_Datatype handle) {
    for (const Datatype& known : known_)
      if (known.handle == handle) return *(last_ = &known);
    return *(last_ = &ask(handle));
  }

 private:
  const Datatype& ask(MPI_Datatype handle);
  std::array<Datatype, 4> known_{};    ///< predefined types; an empty entry matches MPI_DATATYPE_NULL only
  std::array<Datatype, 2> derived_{};  ///< the last two types that may be derived
  std::size_t next_ = 0, next_derived_ = 0;
  const Datatype* last_ = nullptr;  ///< the last type looked up, which the next look-up must not overwrite
};

/// The types of the blocks of one side of an MPI_Alltoallw. One thread may use it at a time.
class BlockTypes {
 public:
  /// Looks up the type of each block. MPI_DATATYPE_NULL counts as a type without data. The result is valid until the
  /// next call.
  std::span<const Datatype> look_up(Datatypes& types, const MPI_Datatype* handles, int blocks);

 private:
  std::vector<Datatype> types_;
};

}  // namespace swapmeet
