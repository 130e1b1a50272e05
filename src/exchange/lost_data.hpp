/// Messages whose data are lost: how a rank that has none tells those that wait for them, at no cost where nothing has
/// failed; and where a rank without memory puts what others send it.
///
/// Such a message is longer than its receiver expects, and MPI reports it as truncated. Not so with Open MPI, which writes
/// all of a message beyond the end of its buffer (4.1.4 and 5.0.11, within a node, above 4 KiB): there it is empty, as no
/// other message is, and receivers look at the length. For the same reason no message is received in too small a buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/mpi.hpp"

namespace swapmeet {

class LostData {
 public:
  LostData() = default;
  LostData(const LostData&) = delete;
  LostData& operator=(const LostData&) = delete;
  ~LostData();

  /// What is sent instead of so many bytes, at least one. Needs no memory but the MPI's for a datatype.
  Part sent(std::int64_t bytes);

  /// Where so many bytes are received, of which only the first `wanted` are kept, at `room`.
  Part dropped(std::int64_t bytes, char* room = nullptr, std::int64_t wanted = 0);

  /// Whether a message that has come without an error is one of these.
  static bool came_with([[maybe_unused]] const MPI_Status& status) {
#ifdef OPEN_MPI
    return status._ucount == 0;
#else
    return false;
#endif
  }

 private:
  bool repeat_chunk(std::int64_t chunks);

  MPI_Datatype repeated_ = MPI_DATATYPE_NULL;  ///< the same chunk again and again
  std::int64_t chunks_ = -1;                   ///< of it
  MPI_Datatype split_ = MPI_DATATYPE_NULL;     ///< what is wanted, and the rest
};

}  // namespace swapmeet
