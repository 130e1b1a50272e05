/// A copy in host memory of the blocks of one side of a call that are in device memory.
#pragma once

#include <vector>

#include "buffers/blocks.hpp"
#include "buffers/device.hpp"
#include "buffers/memory.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

class HostCopy {
 public:
  /// Finds whether blocks of `ranks` ranks are in device memory. If so, it allocates room for these blocks; if blocks
  /// have equal sizes, also for the bytes between them. It copies the blocks to the host if they are `read`, or if they
  /// have gaps, whose bytes must not change. Local. Returns an MPI error code.
  int take(const Blocks& blocks, Rank ranks, bool read);

  /// The host copies of `blocks`, for which take() was called. Blocks that are in host memory stay where they are.
  Blocks instead_of(const Blocks& blocks) const;

  /// Copies the blocks back to device memory. Returns an MPI error code.
  int give_back();

  /// Ends the use of the copies, and frees their memory if it is too large to keep.
  void release();
  /// Gives the memory up without freeing it, because MPI may still read or write it.
  void lose() { memory_.lose(); }

  /// The driver of the device; nullptr if all blocks are in host memory.
  const DeviceDriver* device() const { return device_; }

 private:
  /// A contiguous range of bytes, of one block or more.
  struct Run {
    char *begin, *end;
    const DeviceDriver* driver;  ///< driver of its memory; nullptr for host memory
  };
  /// A range of runs that are adjacent, or of all runs if blocks must stay at equal distances. It is copied as a whole.
  struct Region {
    char *begin, *end;
    const DeviceDriver* driver;
    std::intptr_t distance;  ///< offset from it to its copy, in bytes; 0 if it has no copy
  };
  enum class Direction { to_host, to_device };

  /// Gathers the runs of `blocks`. Returns whether they have no gaps.
  bool gather(const Blocks& blocks, Rank ranks);
  /// Joins the runs to regions, to a single one if `one`.
  void find_regions(bool one);
  /// Allocates the copies of regions. Returns false if there is no memory.
  bool place_regions();
  void place_blocks(const Blocks& blocks, Rank ranks);
  std::intptr_t distance_of(const char* address) const;
  int copy(Direction direction) const;

  std::vector<Run> runs_;        ///< sorted by address
  std::vector<Region> regions_;  ///< sorted by address, disjoint
  std::vector<char*> begins_;    ///< beginning of the data of each block; nullptr if it has none
  // The counts and places of blocks of unequal size on the host.
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> displacements_;
  const DeviceDriver* device_ = nullptr;
  Memory memory_;
};

}  // namespace swapmeet
