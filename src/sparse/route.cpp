#include "sparse/route.hpp"

#include <algorithm>
#include <utility>

namespace swapmeet {

SparseRoute::SparseRoute(const Spec& spec, const Shape& shape, Rank rank)
    : most_bytes_(spec.direct_bytes == Direct::automatic ? Direct::standard : spec.direct_bytes) {
  using Kind = Dimensions::Kind;
  const bool hierarchical = spec.dimensions.kind == Kind::nodes || spec.dimensions.kind == Kind::groups;
  if (hierarchical) grid_ = arrange(spec.dimensions, shape);
  sizes_ = grid_ ? grid_->sizes : extent(spec.dimensions, shape).sizes;
  std::int32_t stride = 1;
  for (const std::int32_t size : sizes_) strides_.push_back(std::exchange(stride, stride * size));
  places_.push_back(place_of(rank));
  for (std::int32_t place = 0; grid_ && place < grid_->places(); ++place)
    if (rank_at(place) == rank && place != places_.front()) places_.push_back(place);
  for (const Digit& digit : digits_along(spec.radices, sizes_, spec.digits)) {
    const std::int32_t at_a_time = spec.window == 0 ? digit.radix : spec.window;
    for (std::int32_t first = 1; first < digit.radix; first += at_a_time)
      rounds_.push_back({digit, first, std::min(digit.radix - 1, first + at_a_time - 1)});
  }
}

std::int32_t SparseRoute::value(const Round& round, Rank source, Rank destination) const {
  const Digit& digit = round.digit;
  const std::int32_t size = sizes_[digit.dimension];
  const std::int32_t way = along(place_of(destination), digit.dimension) - along(place_of(source), digit.dimension);
  return digit.value(way < 0 ? way + size : way);
}

std::int32_t SparseRoute::peer_place(const Round& round, std::size_t held, std::int32_t value,
                                     std::int32_t sign) const {
  const Digit& digit = round.digit;
  const std::int32_t place = places_[held], size = sizes_[digit.dimension], from = along(place, digit.dimension);
  const std::int32_t to = (from + sign * digit.step(value) + size) % size;
  return place + (to - from) * strides_[digit.dimension];
}

std::size_t SparseRoute::held(std::int32_t place) const {
  return static_cast<std::size_t>(std::ranges::find(places_, place) - places_.begin());
}

std::int64_t SparseRoute::bytes() const {
  const auto of = [](const auto& list) { return static_cast<std::int64_t>(list.capacity() * sizeof list[0]); };
  std::int64_t all = of(sizes_) + of(strides_) + of(places_) + of(rounds_);
  if (grid_) all += of(grid_->sizes) + of(grid_->rank_at) + of(grid_->place_of);
  return all;
}

}  // namespace swapmeet
