/// A type map under construction, from the inside to the outside. Each step keeps it canonical: runs that touch are one,
/// loops that go on as the loop inside them does are one with it, and runs of one size at equal distances are a loop.
#pragma once

#include <memory>
#include <vector>

#include "typemap/type_map.hpp"

namespace swapmeet {

class TypeTree {
 public:
  TypeTree() = default;  ///< no data
  /// So many bytes side by side.
  explicit TypeTree(std::int64_t bytes) { loop_.bytes = bytes; }

  /// It, `count` times, `stride` bytes apart.
  TypeTree repeated(std::int64_t count, std::int64_t stride) &&;

  /// It, `offset` bytes further on.
  TypeTree moved(std::int64_t offset) && {
    loop_.offset += offset;
    return std::move(*this);
  }

  /// One after the other, in the order in which they are sent.
  static TypeTree sequence(std::vector<TypeTree> parts);

  bool empty() const { return loop_.total() == 0; }
  std::int64_t size() const { return loop_.total(); }
  std::size_t loops() const { return loops_; }  ///< how many it has

  /// The map of elements that are `extent` bytes apart. Requires that it is not empty().
  std::unique_ptr<const TypeMap> map(std::int64_t extent) const;

 private:
  bool is_run() const { return parts_.empty(); }
  bool is_one_run() const { return is_run() && loop_.count == 1; }
  /// Makes `next`, which follows it, part of it. False: that cannot be said by one loop.
  bool joins(const TypeTree& next);

  TypeLoop loop_;
  std::vector<TypeTree> parts_;
  std::size_t loops_ = 1;
};

}  // namespace swapmeet
