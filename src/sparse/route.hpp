/// The route of messages that are forwarded digit by digit, as the family bruck forwards blocks (algorithms/bruck.cpp).
/// A SparseRoute is the knowledge that one rank needs to forward existing messages, without a list of all ranks.
///
/// If the ranks are arranged on a circle or a grid, it takes memory for the dimensions only. With dims=nodes and
/// dims=groups it needs the map of nodes, with one number per place.
#pragma once

#include <optional>
#include <vector>

#include "topology/arrangement.hpp"

namespace swapmeet {

class SparseRoute {
 public:
  /// Messages with the same digit that are exchanged together, because their value of that digit is in [first, last].
  struct Round {
    Digit digit;
    std::int32_t first, last;
  };

  SparseRoute(const Spec& spec, const Shape& shape, Rank rank);

  const std::vector<Round>& rounds() const { return rounds_; }

  /// Messages of more bytes are sent directly from source to destination.
  std::int64_t most_bytes() const { return most_bytes_; }

  /// Places that this rank holds: its own first, then proxies (topology/arrangement.hpp). Each message that it holds is
  /// at one of them.
  const std::vector<std::int32_t>& places() const { return places_; }

  /// The value of the round's digit in the offset from source to destination, wherever the message is. 0: it does not
  /// move in this round; otherwise, it moves by so many steps of the digit. The whole offset determines the value: the
  /// digits of the remaining distance may differ if digits go in both directions.
  std::int32_t value(const Round& round, Rank source, Rank destination) const;

  /// The place that is `value` steps of the round's digit ahead of (`sign` 1) or behind (`sign` -1) place number `held`
  /// of this rank.
  std::int32_t peer_place(const Round& round, std::size_t held, std::int32_t value, std::int32_t sign) const;
  Rank rank_at(std::int32_t place) const { return grid_ ? grid_->rank_at[static_cast<std::size_t>(place)] : place; }

  /// The number of `place` among the places of this rank.
  std::size_t held(std::int32_t place) const;

  /// Bytes of memory in use.
  std::int64_t bytes() const;

 private:
  std::int32_t place_of(Rank rank) const { return grid_ ? grid_->place_of[static_cast<std::size_t>(rank)] : rank; }
  std::int32_t along(std::int32_t place, std::size_t dimension) const {
    return place / strides_[dimension] % sizes_[dimension];
  }

  std::optional<Arrangement> grid_;  ///< if empty, a place is a rank
  std::vector<std::int32_t> sizes_, strides_, places_;
  std::vector<Round> rounds_;
  std::int64_t most_bytes_;
};

}  // namespace swapmeet
