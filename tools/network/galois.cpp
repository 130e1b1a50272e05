#include "network/galois.hpp"

namespace swapmeet {

std::int32_t Galois::combine(std::int32_t a, std::int32_t b, std::int32_t factor) const {
  std::int32_t sum = 0;
  for (std::int32_t place = 1; a > 0 || b > 0; place *= prime_, a /= prime_, b /= prime_)
    sum += (a % prime_ + factor * (b % prime_)) % prime_ * place;
  return sum;
}

std::int32_t Galois::multiply(std::int32_t a, std::int32_t b) const {
  if (a == 0 || b == 0) return 0;
  const auto sum = logarithm_[static_cast<std::size_t>(a)] + logarithm_[static_cast<std::size_t>(b)];
  return power_[static_cast<std::size_t>(sum) % power_.size()];
}

std::optional<Galois> Galois::of(std::int32_t q) {
  if (q < 2) return std::nullopt;
  Galois field;
  while (q % field.prime_ != 0) ++field.prime_;
  const std::int32_t p = field.prime_;
  std::int32_t rest = q;
  while (rest % p == 0) rest /= p;
  if (rest != 1) return std::nullopt;
  // For n = 1, find a primitive element. For n > 1 the element x is primitive modulo a suitable polynomial x^n -
  // (candidate); find that polynomial.
  for (std::int32_t candidate = 1; candidate < q; ++candidate) {
    field.power_.clear();
    field.logarithm_.assign(static_cast<std::size_t>(q), -1);
    for (std::int32_t element = 1; element != 0 && field.logarithm_[static_cast<std::size_t>(element)] < 0;) {
      field.logarithm_[static_cast<std::size_t>(element)] = static_cast<std::int32_t>(field.power_.size());
      field.power_.push_back(element);
      if (q == p) {
        element = static_cast<std::int32_t>(std::int64_t{element} * candidate % p);
      } else {
        const std::int32_t leading = element / (q / p);
        element = field.combine(element % (q / p) * p, candidate, leading);
      }
    }
    if (static_cast<std::int32_t>(field.power_.size()) == q - 1) return field;
  }
  return std::nullopt;
}

}  // namespace swapmeet
