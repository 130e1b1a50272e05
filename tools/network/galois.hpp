/// Arithmetic in the finite field GF(q), for graphs that are built on it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace swapmeet {

/// The field GF(q), q = p^n. Its elements are 0..q-1; the digits of a number in base p are the coefficients of a
/// polynomial over GF(p).
class Galois {
 public:
  /// Returns the field; nullopt if q is no prime power.
  static std::optional<Galois> of(std::int32_t q);

  std::int32_t size() const { return static_cast<std::int32_t>(power_.size()) + 1; }
  std::int32_t add(std::int32_t a, std::int32_t b) const { return combine(a, b, 1); }
  std::int32_t subtract(std::int32_t a, std::int32_t b) const { return combine(a, b, prime_ - 1); }
  std::int32_t multiply(std::int32_t a, std::int32_t b) const;
  /// Returns a power of a primitive element: its powers 0..q-2 are all elements but 0.
  std::int32_t power(std::int32_t exponent) const { return power_[static_cast<std::size_t>(exponent) % power_.size()]; }

 private:
  std::int32_t combine(std::int32_t a, std::int32_t b, std::int32_t factor) const;

  std::int32_t prime_ = 2;
  std::vector<std::int32_t> power_, logarithm_;
};

}  // namespace swapmeet
