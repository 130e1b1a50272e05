#include "exchange/lost_data.hpp"

namespace swapmeet {

namespace {

constexpr int chunk_bytes = 1 << 16;
char chunk[chunk_bytes];  ///< its content has no meaning

/// A part that MPI refuses: sending nothing is better than sending a message that looks valid.
Part refused_part() { return {nullptr, -1, MPI_BYTE}; }

void release(MPI_Datatype& type) {
  if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);  // messages under way may still use the type
}

}  // namespace

LostData::~LostData() {
  int finalised = 0;
  if (repeated_ == MPI_DATATYPE_NULL && split_ == MPI_DATATYPE_NULL) return;
  PMPI_Finalized(&finalised);
  if (!finalised) release(repeated_), release(split_);
}

bool LostData::repeat_chunk(std::int64_t chunks) {
  if (chunks == chunks_) return true;
  release(repeated_);
  chunks_ = -1;
  if (PMPI_Type_create_hvector(static_cast<int>(chunks), chunk_bytes, 0, MPI_BYTE, &repeated_) != MPI_SUCCESS ||
      PMPI_Type_commit(&repeated_) != MPI_SUCCESS)
    return false;
  chunks_ = chunks;
  return true;
}

Part LostData::sent([[maybe_unused]] std::int64_t bytes) {
#ifdef OPEN_MPI
  return repeat_chunk(0) ? Part{chunk, 1, repeated_} : refused_part();
#else
  if (bytes < chunk_bytes) return {chunk, bytes + 1, MPI_BYTE};
  return repeat_chunk(bytes / chunk_bytes + 1) ? Part{chunk, 1, repeated_} : refused_part();
#endif
}

Part LostData::dropped(std::int64_t bytes, char* room, std::int64_t wanted) {
  const std::int64_t rest = bytes - wanted;
  const bool repeats = rest > chunk_bytes;
  if (repeats && !repeat_chunk(rest / chunk_bytes + 1)) return refused_part();
  if (wanted == 0) return repeats ? Part{chunk, 1, repeated_} : Part{chunk, rest, MPI_BYTE};
  const int lengths[] = {static_cast<int>(wanted), repeats ? 1 : static_cast<int>(rest)};
  MPI_Aint places[2];
  PMPI_Get_address(room, &places[0]);
  PMPI_Get_address(chunk, &places[1]);
  const MPI_Datatype types[] = {MPI_BYTE, repeats ? repeated_ : MPI_BYTE};
  release(split_);
  if (PMPI_Type_create_struct(2, lengths, places, types, &split_) != MPI_SUCCESS ||
      PMPI_Type_commit(&split_) != MPI_SUCCESS)
    return refused_part();
  return {MPI_BOTTOM, 1, split_};
}

}  // namespace swapmeet
