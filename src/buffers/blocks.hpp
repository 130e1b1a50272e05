/// One side of an all-to-all as the application gave it: where block i lies and how much it holds. Refers to the arrays
/// and the datatypes that it is made of.
#pragma once

#include <span>

#include "mpi/datatype.hpp"
#include "schedule/collective.hpp"

namespace swapmeet {

class Blocks {
 public:
  /// MPI_Alltoall: block i is `count` elements, i·count elements from the start.
  Blocks(const void* base, std::int64_t count, const Datatype& type) : Blocks(base, type) { count_ = count; }

  /// MPI_Alltoallv: counts and displacements in elements, for each rank.
  Blocks(const void* base, const int* counts, const int* displacements, const Datatype& type) : Blocks(base, type) {
    set(counts, displacements);
  }

  /// Of owned blocks; no call has such.
  Blocks(const void* base, const int* counts, const MPI_Aint* displacements, const Datatype& type)
      : Blocks(base, type) {
    set(counts, displacements);
  }

  /// MPI_Alltoallv_c, and our own staging.
  Blocks(const void* base, const MPI_Count* counts, const MPI_Aint* displacements, const Datatype& type)
      : Blocks(base, type) {
    set(counts, displacements);
  }

  /// MPI_Alltoallw, MPI_Neighbor_alltoallw and their large counts: a type for each block, displacements in bytes.
  template <class Count, class Displacement>
  Blocks(const void* base, const Count* counts, const Displacement* displacements, std::span<const Datatype> types)
      : Blocks(base, types.front()) {
    set(counts, displacements);
    unit_ = 1;
    types_apart_ = 1;
    for (const Datatype& type : types)
      contiguous_ &= type.contiguous, mapped_ &= type.mapped(), committed_ &= type.committed;
  }

  /// Whether they are the same ones in memory. (Addresses alone do not tell: with MPI_BOTTOM all are null.)
  bool operator==(const Blocks&) const = default;

  /// They lie elsewhere from now on.
  void lie_at(void* base) { base_ = static_cast<char*>(base); }

  /// The same blocks, `by` bytes further on.
  Blocks moved(std::intptr_t by) const {
    Blocks blocks(*this);
    blocks.base_ += by;
    return blocks;
  }

  /// The same blocks of unequal size elsewhere: block i `displacements[i]` bytes from address 0.
  Blocks placed(const MPI_Count* counts, const MPI_Aint* displacements) const {
    Blocks blocks(*this);
    blocks.base_ = nullptr;
    blocks.unit_ = 1;
    blocks.counts_ = blocks.displacements_ = nullptr;
    blocks.set(counts, displacements);
    return blocks;
  }

  /// Whether all blocks have one count, and lie at equal distances.
  bool equal() const { return !counts_ && !large_counts_; }

  std::int64_t count(int i) const { return counts_ ? counts_[i] : large_counts_ ? large_counts_[i] : count_; }
  std::int64_t displacement(int i) const {
    return displacements_ ? displacements_[i] : large_displacements_ ? large_displacements_[i] : i * count_;
  }
  char* address(int i) const { return base_ + displacement(i) * unit_; }
  std::int64_t bytes(int i) const { return count(i) * type(i).size; }
  const Datatype& type(int i) const { return first_type_[i * types_apart_]; }

  /// Whether the data of every block are its bytes in memory, as far as Datatype::contiguous is sure of it.
  bool contiguous() const { return contiguous_; }

  /// Whether we know where the data of every block are.
  bool mapped() const { return mapped_; }

  /// Whether MPI is known to accept their types. If not, Staging::check() is to find out before anything is sent: their
  /// data may travel as bytes.
  bool committed() const { return committed_; }

  /// Whether all blocks are of one size and follow one another without gaps.
  bool side_by_side() const { return equal() && contiguous_; }

  /// Block i; nothing if it has no data.
  Part whole(int i) const { return {address(i), type(i).size == 0 ? 0 : count(i), type(i).handle}; }

  /// Bytes [offset, offset + length) of block i, as far as it has them. Requires a contiguous type.
  Part segment(int i, std::int64_t offset, std::int64_t length) const {
    const std::int64_t left = bytes(i) - offset;
    return {address(i) + offset, left < 0 ? 0 : left < length ? left : length, MPI_BYTE};
  }

 private:
  Blocks(const void* base, const Datatype& type)
      : base_(static_cast<char*>(const_cast<void*>(base))), first_type_(&type), unit_(type.extent),
        contiguous_(type.contiguous), mapped_(type.mapped()), committed_(type.committed) {}

  void set(const int* counts, const int* displacements) {
    counts_ = counts;
    displacements_ = displacements;
  }
  /// MPI_Neighbor_alltoallw
  void set(const int* counts, const MPI_Aint* displacements) {
    counts_ = counts;
    large_displacements_ = displacements;
  }
  void set(const MPI_Count* counts, const MPI_Aint* displacements) {
    large_counts_ = counts;
    large_displacements_ = displacements;
  }

  char* base_;
  const Datatype* first_type_;
  std::int64_t unit_;  ///< bytes by which displacements count
  bool contiguous_, mapped_, committed_;
  int types_apart_ = 0;  ///< 1: each block has a type of its own; 0: all have the same
  std::int64_t count_ = 0;
  const int *counts_ = nullptr, *displacements_ = nullptr;
  const MPI_Count* large_counts_ = nullptr;
  const MPI_Aint* large_displacements_ = nullptr;
};

/// Whether all ranks know that there is nothing to exchange. (Of types that differ from rank to rank, some are exchanged as
/// rows and some as blocks: these would wait for those.)
inline bool is_empty(Collective collective, const Blocks& send, const Blocks& receive) {
  return collective == Collective::alltoall && send.bytes(0) == 0 && receive.bytes(0) == 0;
}

}  // namespace swapmeet
