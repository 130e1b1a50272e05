/// Messages whose data are lost. A rank without data sends a substitute from which its receivers learn of the loss;
/// this costs nothing as long as nothing has failed. A rank without memory receives messages into a buffer whose
/// content is discarded.
///
/// The substitute is longer than its receiver expects, and MPI reports it as truncated. Open MPI instead writes all of
/// such a message beyond the end of the buffer (4.1.4 and 5.0.11, within a node, above 4 KiB). With Open MPI the
/// substitute is therefore empty, which no other message is, and receivers check the length. For the same reason no
/// message is received into a buffer that is too small.
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

  /// The substitute to send for a message of `bytes` bytes, at least one. It must be sent before the next call of a
  /// function of this object. Needs no memory except that of MPI for a datatype.
  Part sent(std::int64_t bytes);

  /// A buffer to receive `bytes` bytes, of which only the first `wanted` are kept, at `room`.
  Part dropped(std::int64_t bytes, char* room = nullptr, std::int64_t wanted = 0);

  /// Whether a message that was received without an error is such a substitute.
  static bool is_substitute([[maybe_unused]] const MPI_Status& status) {
#ifdef OPEN_MPI
    return status._ucount == 0;
#else
    return false;
#endif
  }

 private:
  bool repeat_chunk(std::int64_t chunks);

  MPI_Datatype repeated_ = MPI_DATATYPE_NULL;  ///< a datatype that names the same chunk repeatedly
  std::int64_t chunks_ = -1;                   ///< number of chunks in it
  MPI_Datatype split_ = MPI_DATATYPE_NULL;     ///< a datatype of the wanted bytes and the rest
};

}  // namespace swapmeet
