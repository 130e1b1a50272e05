/// A copy, in the memory of the host, of the blocks of one side of a call that lie in the memory of a device.
#pragma once

#include <string_view>
#include <vector>

#include "buffers/blocks.hpp"
#include "buffers/device.hpp"
#include "buffers/memory.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

class HostCopy {
 public:
  /// Finds out whether blocks of `ranks` ranks lie in memory of a device. If so, makes room for all of them,
  /// and for what is between them where they are of equal size, and brings those blocks to the host that are `read` or
  /// have gaps, which must stay as they are. Local. Returns an error of MPI.
  int take(const Blocks& blocks, Rank ranks, bool read);

  /// `blocks`, which were taken, where they are on the host; as they are, if all lie there anyway.
  Blocks instead_of(const Blocks& blocks) const;

  /// Brings the blocks back to where they were taken from.
  int give_back();

  /// Forgets them, and gives back memory that is too large to keep.
  void release();

  /// The driver of the device; nullptr: all lies on the host.
  const DeviceDriver* device() const { return device_; }

 private:
  struct Run {  ///< of bytes, of one block or more
    char *begin, *end;
    const DeviceDriver* driver;  ///< that holds it; nullptr: the host does
  };
  struct Region {  ///< of runs that touch, or of all where blocks are to stay at equal distances
    char *begin, *end;
    const DeviceDriver* driver;
    std::intptr_t distance;  ///< to its copy; 0: it has none
  };
  enum class Direction { to_host, to_device };

  /// Gathers the runs of `blocks`. Returns whether they have no gaps.
  bool gather(const Blocks& blocks, Rank ranks);
  void find_regions(bool one);
  bool place_regions();  ///< false: there is no memory
  void place_blocks(const Blocks& blocks, Rank ranks);
  std::intptr_t distance_of(const char* address) const;
  int copy(Direction direction) const;

  std::vector<Run> runs_;        ///< by address
  std::vector<Region> regions_;  ///< by address, apart
  std::vector<char*> begins_;    ///< of the data of each block; nullptr: it has none
  // Where blocks of unequal size are on the host:
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> displacements_;
  const DeviceDriver* device_ = nullptr;
  Memory memory_;
};

}  // namespace swapmeet
