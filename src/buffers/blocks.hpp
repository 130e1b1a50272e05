/// One side of an all-to-all: the address, the count and the datatype of each block. It refers to the application's
/// arrays and to the datatypes, or to copies (kept_arrays.hpp), which must outlive it.
#pragma once

#include <span>

#include "mpi/datatype.hpp"
#include "schedule/collective.hpp"

namespace swapmeet {

class Blocks {
 public:
  /// Blocks of MPI_Alltoall: block i has `count` elements and begins i·count elements from the start.
  Blocks(const void* base, std::int64_t count, const Datatype& type) : Blocks(base, type) { count_ = count; }

  /// Blocks of MPI_Alltoallv: counts and displacements in elements, for each rank.
  Blocks(const void* base, const int* counts, const int* displacements, const Datatype& type) : Blocks(base, type) {
    set(counts, displacements);
  }

  /// Blocks of MPI_Alltoallv_c, and of staging memory.
  Blocks(const void* base, const MPI_Count* counts, const MPI_Aint* displacements, const Datatype& type)
      : Blocks(base, type) {
    set(counts, displacements);
  }

  /// Blocks of MPI_Alltoallw, MPI_Neighbor_alltoallw and their large-count variants: a type for each block,
  /// displacements in bytes.
  template <class Count, class Displacement>
  Blocks(const void* base, const Count* counts, const Displacement* displacements, std::span<const Datatype> types)
      : Blocks(base, types.front()) {
    set(counts, displacements);
    unit_ = 1;
    types_apart_ = 1;
    judge(types);
  }

  /// Whether two sides are the same blocks in memory. (Comparing base addresses is not sufficient: with MPI_BOTTOM all
  /// are null.)
  bool operator==(const Blocks&) const = default;

  /// Changes the base address.
  void lie_at(const void* base) { base_ = static_cast<char*>(const_cast<void*>(base)); }

  /// Refers to these copies of the types from now on, and to those of the arrays unless all blocks are equal.
  void refer_to(const MPI_Count* counts, const MPI_Aint* displacements, std::span<const Datatype> types) {
    first_type_ = types.data();
    judge(types);
    if (equal()) return;
    counts_ = displacements_ = nullptr;
    set(counts, displacements);
  }

  /// The same blocks, `by` bytes further in memory.
  Blocks moved(std::intptr_t by) const {
    Blocks blocks(*this);
    blocks.base_ += by;
    return blocks;
  }

  /// Whether all blocks have the same count and begin at equal distances (MPI_Alltoall).
  bool equal() const { return !counts_ && !large_counts_; }

  /// Whether each block has a type of its own (MPI_Alltoallw), or all have the same.
  bool has_type_for_each() const { return types_apart_ == 1; }

  void* base() const { return base_; }
  std::int64_t count(int i) const { return counts_ ? counts_[i] : large_counts_ ? large_counts_[i] : count_; }
  std::int64_t displacement(int i) const {
    return displacements_ ? displacements_[i] : large_displacements_ ? large_displacements_[i] : i * count_;
  }
  char* address(int i) const { return base_ + displacement(i) * unit_; }
  std::int64_t bytes(int i) const { return count(i) * type(i).size; }
  const Datatype& type(int i) const { return first_type_[i * types_apart_]; }

  /// Whether the data of every block are its bytes in memory, by Datatype::contiguous.
  bool contiguous() const { return contiguous_; }

  /// Whether the places of the data of every block are known, so that they can be packed without MPI.
  bool mapped() const { return mapped_; }

  /// Whether MPI is known to accept all types. If not, Staging::check() must be called before anything is sent: the
  /// data may be sent as bytes, in which case MPI does not check the types.
  bool committed() const { return committed_; }

  /// Whether all blocks have the same size and follow one another without gaps.
  bool side_by_side() const { return equal() && contiguous_; }

  /// Block i as a part of the buffer; its count is 0 if it has no data.
  Part whole(int i) const { return {address(i), type(i).size == 0 ? 0 : count(i), type(i).handle}; }

  /// Bytes [offset, offset + length) of block i, cut at its end. Requires a contiguous type.
  Part segment(int i, std::int64_t offset, std::int64_t length) const {
    const std::int64_t left = bytes(i) - offset;
    return {address(i) + offset, left < 0 ? 0 : left < length ? left : length, MPI_BYTE};
  }

 private:
  Blocks(const void* base, const Datatype& type)
      : base_(static_cast<char*>(const_cast<void*>(base))), first_type_(&type), unit_(type.extent),
        contiguous_(type.contiguous), mapped_(type.mapped()), committed_(type.committed) {}

  void judge(std::span<const Datatype> types) {
    contiguous_ = mapped_ = committed_ = true;
    for (const Datatype& type : types)
      contiguous_ &= type.contiguous, mapped_ &= type.mapped(), committed_ &= type.committed;
  }
  void set(const int* counts, const int* displacements) {
    counts_ = counts;
    displacements_ = displacements;
  }
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
  std::int64_t unit_;  ///< unit of displacements, in bytes
  bool contiguous_, mapped_, committed_;
  int types_apart_ = 0;  ///< 1 if each block has a type of its own, 0 if all have the same
  std::int64_t count_ = 0;
  const int *counts_ = nullptr, *displacements_ = nullptr;
  const MPI_Count* large_counts_ = nullptr;
  const MPI_Aint* large_displacements_ = nullptr;
};

/// Whether there is nothing to exchange, which all ranks know because the blocks of MPI_Alltoall have equal sizes. Such
/// calls must end early: if the types differ from rank to rank, some ranks would exchange rows and others blocks, and
/// would wait for one another.
inline bool is_empty(Collective collective, const Blocks& send, const Blocks& receive) {
  return collective == Collective::alltoall && send.bytes(0) == 0 && receive.bytes(0) == 0;
}

}  // namespace swapmeet
