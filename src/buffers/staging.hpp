/// Staging memory: a copy of all blocks of one side as contiguous bytes. Exchanges in place (MPI_IN_PLACE) send from
/// it, and blocks of derived types are packed in it so that they can be cut into segments. It is kept and reused if it
/// is small.
#pragma once

#include <vector>

#include "buffers/blocks.hpp"
#include "buffers/memory.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

class Staging {
 public:
  /// Makes room for `count` blocks. `peers` has the peer of each block, or is empty if each block has one. A block
  /// whose peer is `nobody` takes no room, and is neither packed nor unpacked. Returns false if there is no memory.
  bool reserve(const Blocks& blocks, int count, std::span<const Rank> peers = {});

  /// The staging memory as blocks of bytes.
  Blocks blocks() const { return {memory_.memory(), counts_.data(), displacements_.data(), byte_type()}; }

  /// Copies the application's blocks into staging memory, or back out. Local. Returns an MPI error code; errors of MPI
  /// are raised on `comm`.
  int pack(const Blocks& from, MPI_Comm comm) { return convert(from, Exchange::in, comm); }
  int unpack(const Blocks& to, MPI_Comm comm) const { return convert(to, Exchange::out, comm); }

  /// Copies a block to a block of the same number of bytes, but possibly another type. Local. `streams` is that of
  /// Elements (typemap/copy.hpp). Returns an MPI error code.
  static int copy(const Part& from, const Datatype& sent, const Part& to, const Datatype& received, MPI_Comm comm,
                  bool streams);

  /// Whether the blocks can be packed. They cannot if only MPI can pack them, one element has more bytes than an int
  /// can count, and the MPI has no large-count functions.
  static bool packs(const Blocks& blocks, int ranks);

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
  static int convert_block(const Part& block, const Datatype& type, char* bytes, Exchange direction, MPI_Comm comm);
  int convert(const Blocks& blocks, Exchange direction, MPI_Comm comm) const;

  Memory memory_;
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> displacements_;
};

}  // namespace swapmeet
