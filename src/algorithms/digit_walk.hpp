/// The ways of blocks on a grid of ranks, phase by phase, as the digits of their offsets determine them (bruck.cpp).
/// They are the same for every rank.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/spec.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

/// The move of all blocks whose offset has one value of a digit.
struct Hop {
  const Digit* digit = nullptr;
  std::int32_t value = 0;  ///< as Digit numbers its values: not a distance
  std::int32_t shift = 0;  ///< distance in places, encoded like an offset
};

class DigitWalk {
 public:
  /// `grid` must outlive the object. `keeps_covered`: whether covered() is needed.
  DigitWalk(const Spec& spec, const Arrangement& grid, bool keeps_covered)
      : grid_(grid), keeps_covered_(keeps_covered), digits_(digits_along(spec.radices, grid.sizes, spec.digits)) {
    std::int32_t stride = 1;
    for (const std::int32_t size : grid.sizes) strides_.push_back(std::exchange(stride, stride * size));
    const auto n = static_cast<std::size_t>(grid.places());
    hops_made_.resize(n), hops_total_.resize(n), covered_.resize(n), hop_of_offset_.resize(n);
    find_classes(spec.paths);
    for (std::size_t phase = 0; phase < phases(); ++phase) {
      enter(phase);
      for (std::size_t i = 0; i < n; ++i) hops_total_[i] += hop_of_offset_[i] != 0;
      hop_count_ += hops_.size() - 1;
    }
  }

  std::size_t phases() const { return digits_.size(); }
  /// Number of hops of all phases.
  std::size_t hop_count() const { return hop_count_; }
  /// The node of a place, if nodes are the last dimension.
  std::int32_t node_of(std::int32_t place) const { return place / strides_.back(); }

  /// Begins a phase: sets its hops, numbered from 1 by increasing value, and the hop of each offset. Phases begin in
  /// order.
  void enter(std::size_t phase) {
    std::vector<const Digit*> of_class;
    hops_.assign(1, {});
    for (const std::size_t begin : first_digits_) {
      const Digit& digit = *of_class.emplace_back(&digits_[(begin + phase) % digits_.size()]);
      for (std::int32_t z = 1; z < digit.radix; ++z)
        hops_.push_back({&digit, z, digit.step(z) * strides_[digit.dimension]});
    }
    std::stable_sort(hops_.begin() + 1, hops_.end(), [](const Hop& a, const Hop& b) { return a.value < b.value; });
    for (std::size_t c = 0; c < of_class.size(); ++c) set_hops_of_class(*of_class[c], static_cast<std::int32_t>(c));
  }

  /// Ends a phase: its blocks have moved.
  void leave() {
    for (std::size_t i = 0; i < hop_of_offset_.size(); ++i)
      if (const std::int32_t hop = hop_of_offset_[i]) {
        ++hops_made_[i];
        if (keeps_covered_) covered_[i] = grid_.shifted(covered_[i], hops_[static_cast<std::size_t>(hop)].shift, 1);
      }
  }

  /// The hops of the phase, from index 1 on.
  const std::vector<Hop>& hops() const { return hops_; }
  /// The hop of the blocks of this offset in the phase; 0: they stay.
  std::int32_t hop_of(std::int32_t offset) const { return hop_of_offset_[static_cast<std::size_t>(offset)]; }
  /// The part of the offset that the hops before this phase have covered. Requires `keeps_covered`.
  std::int32_t covered(std::int32_t offset) const { return covered_[static_cast<std::size_t>(offset)]; }
  /// Numbers of hops of these blocks before this phase, and from this phase on.
  std::int32_t hops_made(std::int32_t offset) const { return hops_made_[static_cast<std::size_t>(offset)]; }
  std::int32_t hops_left(std::int32_t offset) const {
    return hops_total_[static_cast<std::size_t>(offset)] - hops_made(offset);
  }

 private:
  /// Sets the digit with which each class begins, and the class of each offset: the sum of its coordinates modulo the
  /// number of classes. So all classes have about equally many of the offsets with a given value of a digit.
  void find_classes(Paths paths) {
    first_digits_.assign(1, 0);
    if (paths != Paths::rotated) return;
    for (std::size_t i = 1; i < digits_.size(); ++i)
      if (digits_[i].is_first_of_dimension()) first_digits_.push_back(i);
    class_of_offset_.assign(1, 0);
    const auto classes = static_cast<std::int32_t>(first_digits_.size());
    for (const std::int32_t size : grid_.sizes) {
      const std::size_t inner = class_of_offset_.size();
      for (std::int32_t along = 1; along < size; ++along)
        for (std::size_t i = 0; i < inner; ++i) class_of_offset_.push_back((class_of_offset_[i] + along) % classes);
    }
  }

  /// Sets the hop of each offset of a class for its digit. One pass without divisions, which would take most of the
  /// planning time.
  void set_hops_of_class(const Digit& digit, std::int32_t of_class) {
    std::vector<std::int32_t> hop_by_value(static_cast<std::size_t>(digit.radix)), hop_by_coordinate;
    for (std::size_t hop = 1; hop < hops_.size(); ++hop)
      if (hops_[hop].digit == &digit)
        hop_by_value[static_cast<std::size_t>(hops_[hop].value)] = static_cast<std::int32_t>(hop);
    for (std::int32_t along = 0; along < digit.size; ++along)
      hop_by_coordinate.push_back(hop_by_value[static_cast<std::size_t>(digit.value(along))]);
    const auto stride = static_cast<std::size_t>(strides_[digit.dimension]);
    for (std::size_t first = 0; first < hop_of_offset_.size();)
      for (const std::int32_t hop : hop_by_coordinate) {
        if (first_digits_.size() == 1)
          std::fill_n(hop_of_offset_.begin() + static_cast<std::ptrdiff_t>(first), stride, hop);
        else
          for (std::size_t i = first; i < first + stride; ++i)
            if (class_of_offset_[i] == of_class) hop_of_offset_[i] = hop;
        first += stride;
      }
  }

  const Arrangement& grid_;
  bool keeps_covered_;
  std::vector<std::int32_t> strides_;  ///< of the dimensions, in places
  std::vector<Digit> digits_;
  std::vector<std::size_t> first_digits_;  ///< for each class of offsets: the digit that it begins with
  std::vector<Hop> hops_;                  ///< of the current phase; hops_[0] stands for blocks that stay
  std::size_t hop_count_ = 0;
  // By offset:
  std::vector<std::uint8_t> hops_made_, hops_total_;
  std::vector<std::int32_t> covered_, hop_of_offset_;
  std::vector<std::int32_t> class_of_offset_;  ///< with paths=rotated only
};

}  // namespace swapmeet
