/// One side of an all-to-all that outlives the call which described it. It has copies of the counts, displacements and
/// types.
#pragma once

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "buffers/blocks.hpp"

namespace swapmeet {

class OwnedBlocks {
 public:
  template <class Count, class Displacement>
  struct Arrays {
    std::vector<Count> counts;
    std::vector<Displacement> displacements;
  };
  using Sizes = std::variant<std::int64_t, Arrays<int, int>, Arrays<MPI_Count, MPI_Aint>, Arrays<int, MPI_Aint>>;

  /// Blocks of MPI_Alltoall. Throws MpiError if a type cannot be copied.
  OwnedBlocks(const void* base, std::int64_t count, MPI_Datatype type) : base_(base), sizes_(count) {
    keep({&type, 1});
  }

  /// Blocks of MPI_Alltoallv, with one type, or of MPI_Alltoallw, if `each` block has its own type. If `blocks` is 0,
  /// the arrays are not read. Throws MpiError if a type cannot be copied.
  template <class Count, class Displacement>
  OwnedBlocks(const void* base, const Count* counts, const Displacement* displacements, const MPI_Datatype* types,
              bool each, int blocks)
      : base_(base), each_has_type_(each && blocks > 0), sizes_(std::int64_t{0}) {
    const MPI_Datatype nothing = MPI_BYTE;
    if (blocks == 0) {
      keep({&nothing, 1});
      return;
    }
    sizes_ = Arrays<Count, Displacement>{{counts, counts + blocks}, {displacements, displacements + blocks}};
    keep({types, each ? static_cast<std::size_t>(blocks) : 1});
  }

  ~OwnedBlocks();
  OwnedBlocks(OwnedBlocks&&) = default;
  OwnedBlocks& operator=(OwnedBlocks&&) = delete;

  Blocks blocks() const;

  /// Frees the copies of types. No other function may be called afterwards.
  void free_types();

  /// Whether all types are predefined. Then it holds no copies of the application's types, and its base address may be
  /// changed by lie_at().
  bool is_plain() const { return copies_.empty(); }
  void lie_at(const void* base) { base_ = base; }

  /// Whether it is plain and equals these arguments, except for the base address.
  bool is(std::int64_t count, MPI_Datatype type) const {
    const auto* const own = std::get_if<std::int64_t>(&sizes_);
    return is_plain() && own && *own == count && handles_.front() == type;
  }
  template <class Count, class Displacement>
  bool is(const Count* counts, const Displacement* displacements, const MPI_Datatype* types, bool each,
          int blocks) const {
    const auto* const own = std::get_if<Arrays<Count, Displacement>>(&sizes_);
    const auto number = static_cast<std::size_t>(blocks);
    return is_plain() && own && each_has_type_ == each && own->counts.size() == number &&
           std::equal(own->counts.begin(), own->counts.end(), counts) &&
           std::equal(own->displacements.begin(), own->displacements.end(), displacements) &&
           std::equal(handles_.begin(), handles_.end(), types);
  }

  // The arguments in the form in which MPI takes them.
  void* base() const { return const_cast<void*>(base_); }
  const Sizes& sizes() const { return sizes_; }
  const MPI_Datatype* types() const { return handles_.data(); }

 private:
  /// Copies `types`, because the program may free its own. Throws MpiError.
  void keep(std::span<const MPI_Datatype> types);

  const void* base_;
  bool each_has_type_ = false;
  Sizes sizes_;
  std::vector<Datatype> types_;
  std::vector<MPI_Datatype> handles_;
  std::vector<MPI_Datatype> copies_;  ///< copies of derived types, which this object frees
};

}  // namespace swapmeet
