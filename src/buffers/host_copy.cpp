#include "buffers/host_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "mpi/guard.hpp"
#include "mpi/report.hpp"

namespace swapmeet {

namespace {

constexpr std::intptr_t alignment = 64;  // the copy has the same address modulo 64: types may rely on their alignment

/// The bounds of a datatype: the places of the data of elements, relative to the address of the first.
struct Bounds {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Count lower_bound = 0, extent = 0, true_lower_bound = 0, true_extent = 0, size = 0;

  explicit Bounds(MPI_Datatype handle) : type(handle) {
    if (handle == MPI_DATATYPE_NULL) return;
    PMPI_Type_get_extent_x(handle, &lower_bound, &extent);
    PMPI_Type_get_true_extent_x(handle, &true_lower_bound, &true_extent);
    PMPI_Type_size_x(handle, &size);
  }
};

int cannot_copy() {
  say_once(
      "error: a buffer of an all-to-all is memory of a device that cannot be brought to the host and back. Use the "
      "host MPI (SWAPMEET_ALGORITHM=native), or memory of the host.");
  return MPI_ERR_BUFFER;
}

}  // namespace

bool HostCopy::gather(const Blocks& blocks, Rank ranks) {
  bool dense = true;
  Bounds bounds(MPI_DATATYPE_NULL);
  device_ = nullptr;
  runs_.clear();
  begins_.assign(static_cast<std::size_t>(ranks), nullptr);
  for (Rank i = 0; i < ranks; ++i) {
    const Part block = blocks.whole(i);
    if (block.count == 0) continue;
    if (block.type != bounds.type) bounds = Bounds(block.type);
    const std::int64_t last = (block.count - 1) * bounds.extent;  // last element; the extent may be negative
    // The sum is one of integers: an absolute address is an offset from MPI_BOTTOM, which is a null pointer.
    const auto begins = reinterpret_cast<std::intptr_t>(block.address) + bounds.true_lower_bound;
    char* const begin = reinterpret_cast<char*>(begins + std::min<std::int64_t>(0, last));
    char* const end = begin + std::max(last, -last) + bounds.true_extent;
    dense = dense && end - begin == block.count * bounds.size;
    begins_[static_cast<std::size_t>(i)] = begin;
    const DeviceDriver* const driver = device_of(begin);
    if (!device_) device_ = driver;
    if (!runs_.empty() && runs_.back().end == begin && runs_.back().driver == driver) runs_.back().end = end;
    else runs_.push_back({begin, end, driver});
  }
  return dense;
}

int HostCopy::take(const Blocks& blocks, Rank ranks, bool read) {
  return guarded([&]() -> int {
    const bool dense = gather(blocks, ranks);
    if (!device_) return MPI_SUCCESS;
    std::ranges::sort(runs_, {}, &Run::begin);
    find_regions(blocks.equal());
    if (!place_regions()) return MPI_ERR_NO_MEM;
    if (!blocks.equal()) place_blocks(blocks, ranks);
    return read || !dense ? copy(Direction::to_host) : MPI_SUCCESS;
  });
}

void HostCopy::find_regions(bool one) {
  regions_.clear();
  for (const Run& run : runs_) {
    const bool apart = regions_.empty() || run.begin > regions_.back().end || run.driver != regions_.back().driver;
    if (regions_.empty() || (apart && !one)) regions_.push_back({run.begin, run.end, one ? device_ : run.driver, 0});
    else regions_.back().end = std::max(regions_.back().end, run.end);
  }
}

bool HostCopy::place_regions() {
  std::int64_t room = 0;
  for (const Region& region : regions_)
    if (region.driver) room += region.end - region.begin + alignment;
  if (!memory_.reserve(room)) return false;
  auto free = reinterpret_cast<std::intptr_t>(memory_.memory());
  for (Region& region : regions_) {
    if (!region.driver) continue;  // host memory stays where it is
    const auto from = reinterpret_cast<std::intptr_t>(region.begin);
    const std::intptr_t to = free + ((from - free) % alignment + alignment) % alignment;
    region.distance = to - from;
    free = to + (region.end - region.begin);
  }
  return true;
}

void HostCopy::place_blocks(const Blocks& blocks, Rank ranks) {
  counts_.resize(static_cast<std::size_t>(ranks));
  displacements_.resize(counts_.size());
  for (Rank i = 0; i < ranks; ++i) {
    const auto block = static_cast<std::size_t>(i);
    counts_[block] = blocks.count(i);
    displacements_[block] =
        reinterpret_cast<std::intptr_t>(blocks.address(i)) + (begins_[block] ? distance_of(begins_[block]) : 0);
  }
}

std::intptr_t HostCopy::distance_of(const char* address) const {
  return std::prev(std::ranges::upper_bound(regions_, address, {}, &Region::begin))->distance;
}

Blocks HostCopy::instead_of(const Blocks& blocks) const {
  if (!device_) return blocks;
  return blocks.equal() ? blocks.moved(regions_.front().distance)
                        : blocks.placed(counts_.data(), displacements_.data());
}

int HostCopy::give_back() { return device_ ? copy(Direction::to_device) : MPI_SUCCESS; }

int HostCopy::copy(Direction direction) const {
  for (const Run& run : runs_) {
    char* const ours = run.begin + distance_of(run.begin);
    if (ours == run.begin) continue;
    const auto bytes = static_cast<std::size_t>(run.end - run.begin);
    const bool in = direction == Direction::to_host;
    void *const to = in ? ours : run.begin, *const from = in ? run.begin : ours;
    if (!run.driver) std::memcpy(to, from, bytes);
    else if (!run.driver->copy(to, from, bytes, run.begin)) return cannot_copy();
  }
  return MPI_SUCCESS;
}

void HostCopy::release() {
  device_ = nullptr;
  memory_.release();
}

}  // namespace swapmeet
