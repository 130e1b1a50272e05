#include "model/threshold.hpp"

#include <algorithm>
#include <bit>

#include "model/counts.hpp"

namespace swapmeet {

namespace {

/// Number of bytes that take as long as the start-up of a message: 1 us at 8 GB/s. This lies between the values of
/// shared memory (0.3 us, 10 GB/s) and of networks (1.5 us, 10 GB/s). To be replaced by a value measured on the
/// machine.
constexpr double startup_bytes = 8192;

double middle(std::size_t size_class) {
  return size_class == 0 ? 0 : 1.5 * static_cast<double>(std::int64_t{1} << (size_class - 1));
}

}  // namespace

std::size_t size_class(std::int64_t bytes) {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes))),
                               size_classes - 1);
}

Forwarding forwarding(const Spec& spec, const Shape& shape) {
  const double others = std::max(1, shape.ranks - 1);
  if (spec.family == Family::native) return {others, 1};
  const Counts counts = count(spec, shape);
  const bool ahead = spec.sizes == Sizes::ahead || spec.sizes == Sizes::total;
  return {static_cast<double>(counts.messages) * (ahead ? 2 : 1), static_cast<double>(counts.blocks) / others};
}

std::int64_t direct_threshold(const SizeClasses& most, const Forwarding& forwarding) {
  // Costs are relative to sending all blocks directly; absolute ones would lose the precision of small differences.
  double least = 0, extra_cost = forwarding.messages * startup_bytes;
  std::int64_t threshold = 0;
  for (std::size_t c = 1; c < size_classes; ++c) {
    if (most[c] == 0) continue;
    extra_cost += static_cast<double>(most[c]) * ((forwarding.hops - 1) * middle(c) - startup_bytes);
    if (extra_cost >= least) continue;
    least = extra_cost;
    threshold = (std::int64_t{1} << c) - 1;
  }
  return threshold;
}

std::int64_t size_of_each(std::int64_t least, std::int64_t largest, std::int64_t direct_bytes) {
  return least == largest && largest <= direct_bytes ? largest : 0;
}

std::int64_t agreement_bytes(const Spec& spec) {
  constexpr std::int64_t extremes = 2 * sizeof(std::int64_t);
  if (spec.direct_bytes == Direct::automatic) return extremes + sizeof(SizeClasses);
  return spec.sizes == Sizes::padded || spec.direct_bytes == Direct::never ? extremes : 0;
}

Agreed agreed_without(const Spec& spec, std::int64_t bound) {
  return {0, spec.direct_bytes == Direct::never ? Direct::never : std::min(spec.direct_bytes, bound)};
}

Agreed agreed_by(const SizeClasses& most, const Forwarding& forwarding, std::int64_t bound) {
  const std::int64_t threshold = std::min(direct_threshold(most, forwarding), bound);
  std::size_t c = size_classes - 1;  // the largest class that is not empty
  while (c > 0 && most[c] == 0) --c;
  return {std::min(threshold, (std::int64_t{1} << c) - 1), threshold};
}

bool within(const Agreed& agreed, const Spec& spec, std::int64_t bound) {
  const std::int64_t most_padded = INT32_MAX - (spec.family == Family::native ? padded_flag_bytes : 0);
  return agreed.largest <= bound && (spec.sizes != Sizes::padded || agreed.largest <= most_padded);
}

}  // namespace swapmeet
