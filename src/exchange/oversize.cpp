#include "exchange/oversize.hpp"

namespace swapmeet {

namespace {
constexpr int chunk_bytes = 1 << 16;
constexpr char chunk[chunk_bytes] = {};
}  // namespace

Oversize::~Oversize() {
  int finalised = 0;
  if (type_ == MPI_DATATYPE_NULL) return;
  PMPI_Finalized(&finalised);
  if (!finalised) PMPI_Type_free(&type_);
}

Part Oversize::more_than(std::int64_t bytes) {
  void* const address = const_cast<char*>(chunk);
  if (bytes < chunk_bytes) return {address, bytes + 1, MPI_BYTE};
  const std::int64_t chunks = bytes / chunk_bytes + 1;
  if (chunks != chunks_) {  // the same chunk again and again
    if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
    chunks_ = 0;
    if (PMPI_Type_create_hvector(static_cast<int>(chunks), chunk_bytes, 0, MPI_BYTE, &type_) != MPI_SUCCESS ||
        PMPI_Type_commit(&type_) != MPI_SUCCESS)
      return {nullptr, -1, MPI_BYTE};  // refused by MPI: better no message than one that looks right
    chunks_ = chunks;
  }
  return {address, 1, type_};
}

}  // namespace swapmeet
