/// Staging memory: a copy of all blocks of one side as contiguous bytes. Exchanges in place (MPI_IN_PLACE) send from
/// it, blocks of derived types are packed in it so that they can be cut into segments, and blocks in the memory of a
/// device are brought to the host in it. It is kept and reused if it is small.
#pragma once

#include <vector>

#include "buffers/blocks.hpp"
#include "buffers/device.hpp"
#include "buffers/memory.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

class Staging {
 public:
  /// Makes room for `count` blocks if the exchange cannot use them where they lie: because of their type or place, which
  /// the caller knows (`unfit`), or because some of them are in device memory. in_use() says whether this is so. `peers`
  /// has the peer of each block, or is empty if each block has one. A block whose peer is `nobody` takes no room, and is
  /// neither packed nor unpacked. Local. Returns an MPI error code.
  int take(const Blocks& blocks, int count, std::span<const Rank> peers, bool unfit);
  bool in_use() const { return in_use_; }
  bool on_device() const { return !runs_.empty(); }  ///< whether some blocks are in device memory

  /// The staging memory as blocks of MPI_PACKED, whose messages MPI matches with those of any datatype.
  Blocks blocks() const {
    if (equal_) return {memory_.memory(), counts_.empty() ? 0 : counts_.front(), packed_type()};
    return {memory_.memory(), counts_.data(), displacements_.data(), packed_type()};
  }

  /// Copies the application's blocks into staging memory, or back out. Local. Returns an MPI error code; errors of MPI
  /// are raised on `comm`.
  int pack(const Blocks& from, MPI_Comm comm) { return convert(from, Exchange::in, comm); }
  int unpack(const Blocks& to, MPI_Comm comm) const { return convert(to, Exchange::out, comm); }

  /// Copies a block to a block of the same number of bytes, but possibly another type. Local. `streams` is that of
  /// Elements (typemap/copy.hpp). Returns an MPI error code.
  static int copy(const Part& from, const Datatype& sent, const Part& to, const Datatype& received, MPI_Comm comm,
                  bool streams);

  /// The error with which MPI would refuse to pack the type of a block with data, for example because it is not
  /// committed. MPI_SUCCESS if there is none. Local.
  static int check(const Blocks& blocks, int ranks, MPI_Comm comm);
  static int check(const Datatype& type, MPI_Comm comm);

  /// Frees the memory if it is too large to keep.
  void release() { memory_.release(); }
  /// Gives the memory up without freeing it, because MPI may still read or write it.
  void lose() { memory_.lose(); }

 private:
  enum class Exchange { in, out };
  /// Successive blocks whose data follow one another in the memory of one device, or of the host.
  struct Run {
    std::size_t first, behind;   ///< numbers of the first block, and of the one behind the last
    std::intptr_t begin, end;    ///< addresses of the first byte, and of the one behind the last
    const DeviceDriver* driver;  ///< nullptr: memory of the host
    bool contiguous;             ///< the data are all bytes of the run, in order
  };

  static bool packs(const Blocks& blocks, int ranks);
  static int convert_block(const Part& block, const Datatype& type, char* bytes, Exchange direction, MPI_Comm comm);
  void find_runs(const Blocks& blocks);
  int convert(const Blocks& blocks, Exchange direction, MPI_Comm comm) const;
  int convert(const Blocks& blocks, std::size_t first, std::size_t behind, Exchange direction, MPI_Comm comm) const;
  int convert_on_device(const Blocks& blocks, const Run& run, Exchange direction, MPI_Comm comm) const;

  Memory memory_;
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> displacements_;
  std::int64_t bytes_ = 0;  ///< of all blocks
  std::vector<Run> runs_;   ///< all blocks with data, if some of them are in device memory; else empty
  bool in_use_ = false, equal_ = false;
};

}  // namespace swapmeet
