/// A type map under construction, from the innermost loop outwards. Each step keeps it canonical: adjacent runs are
/// merged into one, a loop that continues the loop inside it is merged with that, and runs of one size at equal
/// distances become a loop.
#pragma once

#include <memory>
#include <vector>

#include "typemap/type_map.hpp"

namespace swapmeet {

class TypeTree {
 public:
  TypeTree() = default;  ///< no data
  /// `bytes` contiguous bytes.
  explicit TypeTree(std::int64_t bytes) { loop_.bytes = bytes; }

  /// This map `count` times, `stride` bytes apart.
  TypeTree repeated(std::int64_t count, std::int64_t stride) &&;

  /// This map, displaced by `offset` bytes.
  TypeTree moved(std::int64_t offset) && {
    loop_.offset += offset;
    return std::move(*this);
  }

  bool empty() const { return loop_.total() == 0; }
  std::int64_t size() const { return loop_.total(); }
  std::size_t loops() const { return loops_; }  ///< number of loops

  /// The type map for elements that are `extent` bytes apart. Requires that the tree is not empty().
  std::unique_ptr<const TypeMap> map(std::int64_t extent) const;

 private:
  friend class TypeSequence;

  bool is_run() const { return parts_.empty(); }
  bool is_one_run() const { return is_run() && loop_.count == 1; }
  /// Merges `next`, which follows this map, into it. Returns false if one loop cannot represent both.
  bool joins(const TypeTree& next);

  TypeLoop loop_;
  std::vector<TypeTree> parts_;
  std::size_t loops_ = 1;
};

/// Maps one after the other, in the order in which their data are sent.
class TypeSequence {
 public:
  /// Adds a map behind the others.
  void add(TypeTree part);
  /// The number of loops so far. A map that contains this sequence has no fewer.
  std::size_t loops() const { return loops_; }
  TypeTree tree() &&;

 private:
  void append(TypeTree part);

  std::vector<TypeTree> joined_;
  std::size_t loops_ = 0;
};

}  // namespace swapmeet
