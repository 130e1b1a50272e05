/// A copy of all blocks of one side, as plain bytes: what MPI_IN_PLACE is sent from, and what blocks of derived types
/// are cut into segments in. Kept and reused while it is small.
#pragma once

#include <vector>

#include "buffers/blocks.hpp"
#include "buffers/memory.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

class Staging {
 public:
  /// Makes room for so many blocks. `peers`: of each; a block for nobody takes none, and is neither packed nor unpacked.
  /// Empty: there is somebody for each. False: no memory.
  bool reserve(const Blocks& blocks, int count, std::span<const Rank> peers = {});

  /// The room as blocks of bytes.
  Blocks blocks() const { return {memory_.memory(), counts_.data(), displacements_.data(), byte_type()}; }

  /// Copies the application's blocks in, or back out. Local; errors are raised on `comm`.
  int pack(const Blocks& from, MPI_Comm comm) { return convert(from, Exchange::in, comm); }
  int unpack(const Blocks& to, MPI_Comm comm) const { return convert(to, Exchange::out, comm); }

  /// Copies a block into one of as many bytes but another type. Local. `streams`: as of Elements. Returns as MPI does.
  static int copy(const Part& from, const Datatype& sent, const Part& to, const Datatype& received, MPI_Comm comm,
                  bool streams);

  /// Whether the blocks can be packed at all: one element may be more than the MPI can count in an int.
  static bool packs(const Blocks& blocks, int ranks);

  /// The error that packing or unpacking the types of blocks with data would meet (one is not committed, say);
  /// MPI_SUCCESS: none.
  static int check(const Blocks& blocks, int ranks, MPI_Comm comm);
  static int check(const Datatype& type, MPI_Comm comm);

  /// Gives back what is too large to keep.
  void release() { memory_.release(); }

 private:
  enum class Exchange { in, out };
  static int convert_block(const Part& block, const Datatype& type, char* bytes, Exchange direction, MPI_Comm comm);
  int convert(const Blocks& blocks, Exchange direction, MPI_Comm comm) const;

  Memory memory_;
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> displacements_;
};

}  // namespace swapmeet
