#include "buffers/host_copy.hpp"

#include <algorithm>

#include "mpi/report.hpp"

namespace swapmeet {

namespace {

constexpr std::intptr_t alignment = 64;  // of the copy relative to the original: any type may rely on its own

/// Where the data of elements lies, relative to the address of the first.
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

}  // namespace

bool HostCopy::gather(const Blocks& blocks, Rank ranks) {
  bool dense = true;
  Bounds bounds(MPI_DATATYPE_NULL);
  runs_.clear();
  for (Rank i = 0; i < ranks; ++i) {
    const Part block = blocks.whole(i);
    if (block.count == 0) continue;
    if (block.type != bounds.type) bounds = Bounds(block.type);
    const std::int64_t last = (block.count - 1) * bounds.extent;  // from the first element; the extent may be negative
    char* const begin = static_cast<char*>(block.address) + bounds.true_lower_bound + std::min<std::int64_t>(0, last);
    char* const end = begin + std::max(last, -last) + bounds.true_extent;
    dense = dense && end - begin == block.count * bounds.size;
    if (!runs_.empty() && runs_.back().end == begin) runs_.back().end = end;
    else runs_.push_back({begin, end});
  }
  return dense;
}

int HostCopy::take(const Blocks& blocks, Rank ranks, bool read) {
  const bool dense = gather(blocks, ranks);
  for (std::size_t i = 0; i < runs_.size() && !device_; ++i) device_ = device_of(runs_[i].begin);
  if (!device_) return MPI_SUCCESS;
  std::ranges::sort(runs_, {}, &Run::begin);
  const auto [lowest, highest] = std::pair(runs_.front().begin, std::ranges::max(runs_, {}, &Run::end).end);
  if (!memory_.reserve(highest - lowest + alignment)) return MPI_ERR_NO_MEM;
  const auto from = reinterpret_cast<std::intptr_t>(lowest), to = reinterpret_cast<std::intptr_t>(memory_.memory());
  distance_ = to - from + ((from - to) % alignment + alignment) % alignment;
  return read || !dense ? copy(Direction::to_host) : MPI_SUCCESS;
}

int HostCopy::give_back() { return device_ ? copy(Direction::to_device) : MPI_SUCCESS; }

int HostCopy::copy(Direction direction) const {
  for (const Run& run : runs_) {
    char* const ours = run.begin + distance_;
    const auto bytes = static_cast<std::size_t>(run.end - run.begin);
    const bool in = direction == Direction::to_host;
    if (device_->copy(in ? ours : run.begin, in ? run.begin : ours, bytes, run.begin)) continue;
    say_once(
        "error: a buffer of an all-to-all is memory of a device that cannot be brought to the host and back. Use the "
        "host MPI (SWAPMEET_ALGORITHM=native), or memory of the host.");
    return MPI_ERR_BUFFER;
  }
  return MPI_SUCCESS;
}

void HostCopy::release() {
  device_ = nullptr;
  distance_ = 0;
  memory_.release();
}

}  // namespace swapmeet
