/// The way of messages that are passed on by digits, as blocks of the family bruck are (algorithms/bruck.cpp), for those
/// that exist: what one rank must know to pass on what it has, without a list of all ranks.
///
/// On a circle or a grid of ranks that takes memory for the dimensions only. With dims=nodes and groups it takes the map
/// of the nodes, one number for each place.
#pragma once

#include <optional>
#include <vector>

#include "topology/arrangement.hpp"

namespace swapmeet {

class SparseRoute {
 public:
  /// Messages of the same digit that are exchanged together: those whose value is first to last.
  struct Round {
    Digit digit;
    std::int32_t first, last;
  };

  SparseRoute(const Spec& spec, const Shape& shape, Rank rank);

  const std::vector<Round>& rounds() const { return rounds_; }

  /// Messages of more bytes go from source to destination by themselves.
  std::int64_t most_bytes() const { return most_bytes_; }

  /// Places that this rank holds, its own first. A message is at one of them.
  const std::vector<std::int32_t>& places() const { return places_; }

  /// The value of the round's digit in the way from a source to a destination, wherever the message is: 0, or it moves so
  /// many steps in this digit. (What remains of the way has other digits, if they go both ways.)
  std::int32_t value(const Round& round, Rank source, Rank destination) const;

  /// The place that is `value` steps of the round's digit ahead (`sign` 1) of our place number `held`, or behind it (-1).
  std::int32_t peer_place(const Round& round, std::size_t held, std::int32_t value, std::int32_t sign) const;
  Rank rank_at(std::int32_t place) const { return grid_ ? grid_->rank_at[static_cast<std::size_t>(place)] : place; }

  /// Which of our places that is.
  std::size_t held(std::int32_t place) const;

  /// Of memory.
  std::int64_t bytes() const;

 private:
  std::int32_t place_of(Rank rank) const { return grid_ ? grid_->place_of[static_cast<std::size_t>(rank)] : rank; }
  std::int32_t along(std::int32_t place, std::size_t dimension) const {
    return place / strides_[dimension] % sizes_[dimension];
  }

  std::optional<Arrangement> grid_;  ///< nothing: a place is a rank
  std::vector<std::int32_t> sizes_, strides_, places_;
  std::vector<Round> rounds_;
  std::int64_t most_bytes_;
};

}  // namespace swapmeet
