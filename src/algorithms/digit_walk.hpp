/// The ways of blocks on a grid of ranks, phase by phase, as the digits of their offsets determine them (bruck.cpp). They
/// are the same for every rank.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/spec.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

/// A value of a digit by which blocks move in a phase.
struct Hop {
  const Digit* digit = nullptr;
  std::int32_t value = 0;
  std::int32_t move = 0;  ///< distance in places, encoded like an offset
};

class DigitWalk {
 public:
  /// `grid` must outlive the object. `follows`: whether done() is needed.
  DigitWalk(const Spec& spec, const Arrangement& grid, bool follows)
      : grid_(grid), follows_(follows), digits_(digits_along(spec.radices, grid.sizes, spec.digits)) {
    std::int32_t stride = 1;
    for (const std::int32_t size : grid.sizes) strides_.push_back(std::exchange(stride, stride * size));
    const auto n = static_cast<std::size_t>(grid.places());
    moves_.resize(n), all_moves_.resize(n), done_.resize(n), hop_of_.resize(n);
    find_classes(spec.paths);
    for (std::size_t phase = 0; phase < phases(); ++phase) {
      enter(phase);
      for (std::size_t i = 0; i < n; ++i) all_moves_[i] += hop_of_[i] != 0;
      hops_of_all_phases_ += hops_.size() - 1;
    }
  }

  std::size_t phases() const { return digits_.size(); }
  std::size_t hops_of_all_phases() const { return hops_of_all_phases_; }
  /// The number of places that share all coordinates but the last one: of a node, if nodes are the last dimension.
  std::int32_t last_stride() const { return strides_.back(); }

  /// Begins a phase: sets its hops, numbered by increasing value, and the hop of each offset. Phases begin in order.
  void enter(std::size_t phase) {
    std::vector<const Digit*> of_class;
    hops_.assign(1, {});
    for (const std::size_t begin : begins_) {
      const Digit& digit = *of_class.emplace_back(&digits_[(begin + phase) % digits_.size()]);
      for (std::int32_t z = 1; z < digit.radix; ++z)
        hops_.push_back({&digit, z, digit.step(z) * strides_[digit.dimension]});
    }
    std::stable_sort(hops_.begin() + 1, hops_.end(), [](const Hop& a, const Hop& b) { return a.value < b.value; });
    for (std::size_t c = 0; c < of_class.size(); ++c) read(*of_class[c], static_cast<std::int32_t>(c));
  }

  /// Ends a phase: its blocks have moved.
  void leave() {
    for (std::size_t i = 0; i < hop_of_.size(); ++i)
      if (const std::int32_t hop = hop_of_[i]) {
        ++moves_[i];
        if (follows_) done_[i] = grid_.shifted(done_[i], hops_[static_cast<std::size_t>(hop)].move, 1);
      }
  }

  /// The hops of the phase, from index 1 on.
  const std::vector<Hop>& hops() const { return hops_; }
  /// The hop of the blocks of this offset in the phase; 0: they stay.
  std::int32_t hop_of(std::int32_t offset) const { return hop_of_[static_cast<std::size_t>(offset)]; }
  /// The part of the offset that the moves before this phase have covered.
  std::int32_t done(std::int32_t offset) const { return done_[static_cast<std::size_t>(offset)]; }
  /// Numbers of moves before this phase, and from this phase on.
  std::int32_t moves_before(std::int32_t offset) const { return moves_[static_cast<std::size_t>(offset)]; }
  std::int32_t moves_left(std::int32_t offset) const {
    return all_moves_[static_cast<std::size_t>(offset)] - moves_before(offset);
  }

 private:
  /// Sets the digit with which each class begins, and the class of each offset: the sum of its coordinates modulo the
  /// number of classes. So all classes have about equally many of the offsets with a given value of a digit.
  void find_classes(Paths paths) {
    begins_.assign(1, 0);
    if (paths != Paths::rotated) return;
    for (std::size_t i = 1; i < digits_.size(); ++i)
      if (digits_[i].number == 0) begins_.push_back(i);
    classes_.assign(1, 0);
    const auto classes = static_cast<std::int32_t>(begins_.size());
    for (const std::int32_t size : grid_.sizes) {
      const std::size_t inner = classes_.size();
      for (std::int32_t along = 1; along < size; ++along)
        for (std::size_t i = 0; i < inner; ++i) classes_.push_back((classes_[i] + along) % classes);
    }
  }

  /// Sets the hop of each offset of a class for its digit. One pass without divisions, which would take most of the
  /// planning time.
  void read(const Digit& digit, std::int32_t of_class) {
    // of_value by value of the digit; along_dimension by coordinate along the dimension
    std::vector<std::int32_t> of_value(static_cast<std::size_t>(digit.radix)), along_dimension;
    for (std::size_t hop = 1; hop < hops_.size(); ++hop)
      if (hops_[hop].digit == &digit)
        of_value[static_cast<std::size_t>(hops_[hop].value)] = static_cast<std::int32_t>(hop);
    for (std::int32_t along = 0; along < digit.size; ++along)
      along_dimension.push_back(of_value[static_cast<std::size_t>(digit.value(along))]);
    const auto stride = static_cast<std::size_t>(strides_[digit.dimension]);
    for (std::size_t first = 0; first < hop_of_.size();)
      for (const std::int32_t hop : along_dimension) {
        if (begins_.size() == 1) std::fill_n(hop_of_.begin() + static_cast<std::ptrdiff_t>(first), stride, hop);
        else
          for (std::size_t i = first; i < first + stride; ++i)
            if (classes_[i] == of_class) hop_of_[i] = hop;
        first += stride;
      }
  }

  const Arrangement& grid_;
  bool follows_;
  std::vector<std::int32_t> strides_;  ///< of the dimensions, in places
  std::vector<Digit> digits_;
  std::vector<std::size_t> begins_;  ///< for each class of offsets: the digit that it begins with
  std::vector<Hop> hops_;
  std::size_t hops_of_all_phases_ = 0;
  // By offset:
  std::vector<std::uint8_t> moves_, all_moves_;
  std::vector<std::int32_t> done_, hop_of_;
  std::vector<std::int32_t> classes_;  ///< with paths=rotated only
};

}  // namespace swapmeet
