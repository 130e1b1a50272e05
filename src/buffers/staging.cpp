#include "buffers/staging.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "typemap/copy.hpp"

namespace swapmeet {

namespace {

/// Makes a committed type that describes, relative to `address`, the data that `type` describes relative to the null
/// pointer. It is needed because MPI_Pack of MPICH 5 refuses MPI_BOTTOM.
int seen_from(const void* address, MPI_Datatype type, MPI_Datatype* shifted) {
  const int one = 1;
  MPI_Aint back = 0;
  PMPI_Get_address(address, &back);
  back = -back;
  const int error = PMPI_Type_create_hindexed(1, &one, &back, type, shifted);
  return error ? error : PMPI_Type_commit(shifted);
}

#if MPI_VERSION >= 4
using Bytes = MPI_Count;
constexpr std::int64_t most_bytes = INT64_MAX;
#else
using Bytes = int;
constexpr std::int64_t most_bytes = INT_MAX;
#define PMPI_Pack_c PMPI_Pack
#define PMPI_Unpack_c PMPI_Unpack
#endif

/// Calls use(elements, count, type, index of the first element) for pieces of a block that are small enough for MPI to
/// count their bytes.
template <class Use>
int in_pieces(const Part& block, const Datatype& type, Use use) {
  const std::int64_t most = std::max<std::int64_t>(1, most_bytes / type.size);
  for (std::int64_t first = 0; first < block.count; first += most) {
    char* const elements = static_cast<char*>(block.address) + first * type.extent;
    const auto count = static_cast<Bytes>(std::min(most, block.count - first));
    int error = MPI_SUCCESS;
    if (elements != nullptr) {
      error = use(elements, count, block.type, first);
    } else {
      char here = 0;
      MPI_Datatype shifted = MPI_DATATYPE_NULL;
      error = seen_from(&here, block.type, &shifted);
      if (!error) error = use(&here, count, shifted, first);
      if (shifted != MPI_DATATYPE_NULL) PMPI_Type_free(&shifted);
    }
    if (error) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

bool Staging::reserve(const Blocks& blocks, int count, std::span<const Rank> peers) try {
  counts_.resize(static_cast<std::size_t>(count));
  displacements_.resize(static_cast<std::size_t>(count));
  std::int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    counts_[at] = !peers.empty() && peers[at] == nobody ? 0 : blocks.bytes(i);
    displacements_[at] = total;
    total += counts_[at];
  }
  return memory_.reserve(total);
} catch (const std::bad_alloc&) { return false; }

bool Staging::packs(const Blocks& blocks, int ranks) {
  if (MPI_VERSION >= 4) return true;
  for (int i = 0; i < ranks; ++i)
    if (blocks.count(i) > 0 && !blocks.type(i).mapped() && blocks.type(i).size > INT_MAX) return false;
  return true;
}

int Staging::check(const Blocks& blocks, int ranks, MPI_Comm comm) {
  const Datatype* checked = nullptr;
  for (int i = 0; i < ranks; ++i) {
    const Datatype& type = blocks.type(i);
    if (blocks.count(i) == 0 || (checked && checked->handle == type.handle)) continue;
    checked = &type;
    if (const int error = check(type, comm)) return error;
  }
  return MPI_SUCCESS;
}

int Staging::check(const Datatype& type, MPI_Comm comm) {
  if (type.committed || type.size == 0) return MPI_SUCCESS;  // MPICH 4.0.2 divides by the size
  char nothing[1] = {};
  int position = 0;
  if (const int error = PMPI_Unpack(nothing, 1, &position, nothing, 0, type.handle, comm)) return error;
  remember_committed(type);
  return MPI_SUCCESS;
}

int Staging::convert_block(const Part& block, const Datatype& type, char* bytes, Exchange direction, MPI_Comm comm) {
  const bool in = direction == Exchange::in;
  copied(block.count * type.size);
  if (type.mapped()) {
    const Elements elements{static_cast<char*>(block.address), type.map};
    in ? copy_out(elements, 0, block.count * type.size, bytes) : copy_in(elements, 0, block.count * type.size, bytes);
    return MPI_SUCCESS;
  }
  return in_pieces(block, type, [&](void* elements, Bytes count, MPI_Datatype handle, std::int64_t first) {
    char* const packed = bytes + first * type.size;
    const auto length = static_cast<Bytes>(count * type.size);
    Bytes position = 0;
    return in ? PMPI_Pack_c(elements, count, handle, packed, length, &position, comm)
              : PMPI_Unpack_c(packed, length, &position, elements, count, handle, comm);
  });
}

int Staging::convert(const Blocks& blocks, Exchange direction, MPI_Comm comm) const {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const Part block = blocks.whole(static_cast<int>(i));
    if (counts_[i] == 0) continue;
    const Datatype& type = blocks.type(static_cast<int>(i));
    if (const int error = convert_block(block, type, memory_.memory() + displacements_[i], direction, comm))
      return error;
  }
  return MPI_SUCCESS;
}

int Staging::copy(const Part& from, const Datatype& sent, const Part& to, const Datatype& received, MPI_Comm comm,
                  bool streams) {
  if (sent.mapped() && received.mapped()) {
    copied(from.count * sent.size);
    copy_elements({static_cast<char*>(from.address), sent.map}, 0,
                  {static_cast<char*>(to.address), received.map, streams}, 0, from.count * sent.size);
    return MPI_SUCCESS;
  }
  const std::unique_ptr<char[]> bytes(new (std::nothrow) char[static_cast<std::size_t>(from.count * sent.size)]);
  if (!bytes) return MPI_ERR_NO_MEM;
  const int error = convert_block(from, sent, bytes.get(), Exchange::in, comm);
  return error ? error : convert_block(to, received, bytes.get(), Exchange::out, comm);
}

}  // namespace swapmeet
