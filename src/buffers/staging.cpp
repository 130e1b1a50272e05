#include "buffers/staging.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "mpi/report.hpp"
#include "typemap/copy.hpp"

namespace swapmeet {

namespace {

constexpr std::intptr_t alignment = 64;  // a copy has the same address modulo 64: types may rely on their alignment

int cannot_copy() {
  say_once(
      "error: a buffer of an all-to-all is memory of a device that cannot be brought to the host and back. Use the "
      "host MPI (SWAPMEET_ALGORITHM=native), or memory of the host.");
  return MPI_ERR_BUFFER;
}

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

int Staging::take(const Blocks& blocks, int count, std::span<const Rank> peers, bool unfit) try {
  in_use_ = unfit;
  runs_.clear();
  if (!unfit && !may_be_on_device()) return MPI_SUCCESS;
  equal_ = blocks.equal() && peers.empty();
  counts_.resize(static_cast<std::size_t>(count));
  displacements_.resize(static_cast<std::size_t>(count));
  bytes_ = 0;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    counts_[at] = !peers.empty() && peers[at] == nobody ? 0 : blocks.bytes(i);
    displacements_[at] = bytes_;
    bytes_ += counts_[at];
  }
  if (may_be_on_device()) find_runs(blocks);
  in_use_ = unfit || on_device();
  if (!in_use_) return MPI_SUCCESS;
  if (!packs(blocks, count)) return MPI_ERR_COUNT;
  std::int64_t room = 0;  // for a copy of one run with gaps
  for (const Run& run : runs_)
    if (run.driver && !run.contiguous) room = std::max<std::int64_t>(room, run.end - run.begin + alignment);
  return memory_.reserve(bytes_ + room) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
} catch (const std::bad_alloc&) { return MPI_ERR_NO_MEM; }

/// Finds the runs of the blocks, and keeps them if some are in device memory.
void Staging::find_runs(const Blocks& blocks) {
  bool on_device = false;
  MPI_Datatype known = MPI_DATATYPE_NULL;
  MPI_Count lower_bound = 0, extent = 0;  // of the data of an element of this type
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const Part block = blocks.whole(static_cast<int>(i));
    const Datatype& type = blocks.type(static_cast<int>(i));
    if (type.handle != known) PMPI_Type_get_true_extent_x(known = type.handle, &lower_bound, &extent);
    const std::int64_t last = (block.count - 1) * type.extent;  // the last element; the extent may be negative
    // The sum is one of integers: an absolute address is an offset from MPI_BOTTOM, which is a null pointer.
    const std::intptr_t begin =
        reinterpret_cast<std::intptr_t>(block.address) + lower_bound + std::min<std::int64_t>(0, last);
    const std::intptr_t end = begin + std::max(last, -last) + extent;
    const DeviceDriver* const driver = device_of(reinterpret_cast<const void*>(begin));
    on_device |= driver != nullptr;
    Run* const before = runs_.empty() ? nullptr : &runs_.back();
    if (before && before->end == begin && before->driver == driver && before->contiguous == type.contiguous)
      before->end = end, before->behind = i + 1;
    else runs_.push_back({i, i + 1, begin, end, driver, type.contiguous});
  }
  if (!on_device) runs_.clear();
}

/// Whether the blocks can be packed. They cannot if only MPI can pack them, one element has more bytes than an int can
/// count, and the MPI has no large-count functions.
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
  if (!on_device()) return convert(blocks, 0, counts_.size(), direction, comm);
  for (const Run& run : runs_)
    if (const int error = run.driver ? convert_on_device(blocks, run, direction, comm)
                                     : convert(blocks, run.first, run.behind, direction, comm))
      return error;
  return MPI_SUCCESS;
}

int Staging::convert(const Blocks& blocks, std::size_t first, std::size_t behind, Exchange direction,
                     MPI_Comm comm) const {
  for (std::size_t i = first; i < behind; ++i) {
    const Part block = blocks.whole(static_cast<int>(i));
    if (counts_[i] == 0) continue;
    const Datatype& type = blocks.type(static_cast<int>(i));
    if (const int error = convert_block(block, type, memory_.memory() + displacements_[i], direction, comm))
      return error;
  }
  return MPI_SUCCESS;
}

/// Variant of convert() for a run in device memory. Data with gaps are converted in a copy of the whole run, because the
/// bytes in the gaps must not change.
int Staging::convert_on_device(const Blocks& blocks, const Run& run, Exchange direction, MPI_Comm comm) const {
  const bool in = direction == Exchange::in, gaps = !run.contiguous;
  char* const there = reinterpret_cast<char*>(run.begin);
  char* here = memory_.memory() + (gaps ? bytes_ : displacements_[run.first]);
  if (gaps) here += ((there - here) % alignment + alignment) % alignment;
  const auto copy = [&](char* to, const char* from) {
    return run.driver->copy(to, from, static_cast<std::size_t>(run.end - run.begin), there);
  };
  if ((in || gaps) && !copy(here, there)) return cannot_copy();
  if (gaps)
    if (const int error = convert(blocks.moved(here - there), run.first, run.behind, direction, comm)) return error;
  return in || copy(there, here) ? MPI_SUCCESS : cannot_copy();
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
