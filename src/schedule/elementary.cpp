#include "schedule/elementary.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace swapmeet::elementary {

namespace {

/// Logarithm of 2 as the sum of two parts. Multiples of the first part by integers up to 2048 are exact.
constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

}  // namespace

// x = k · log(2) + rest with |rest| <= log(2) / 2. The exponential of the rest is computed by its Taylor series.
double exp(double x) {
  constexpr double most = 709.78, least = -745.2;
  constexpr int terms = 14;
  if (x > most) return std::numeric_limits<double>::infinity();
  if (x < least) return 0;
  if (std::isnan(x)) return x;
  const auto k = static_cast<int>(x / std::numbers::ln2 + (x < 0 ? -0.5 : 0.5));
  const double rest = (x - k * ln2_high) - k * ln2_low;
  double sum = 1;
  for (int i = terms; i > 0; --i) sum = 1 + sum * rest / i;
  return std::ldexp(sum, k);
}

// x = m · 2^k with m between sqrt(1/2) and sqrt(2), and log(m) = 2 · artanh((m - 1) / (m + 1)).
double log(double x) {
  constexpr int last = 23;
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return x;
  int k = 0;
  double m = std::frexp(x, &k);
  if (m < std::numbers::sqrt2 / 2) m *= 2, --k;
  const double ratio = (m - 1) / (m + 1), square = ratio * ratio;
  double sum = 0;
  for (int i = last; i > 0; i -= 2) sum = sum * square + 1.0 / i;
  return k * ln2_high + (k * ln2_low + 2 * ratio * sum);
}

// Near 0, a series of erf whose terms are all positive; elsewhere Laplace's continued fraction.
double erfc(double x) {
  constexpr double near = 1.5;
  constexpr int terms = 120;
  if (x < 0) return 2 - erfc(-x);
  double sum = 1;
  if (x < near) {
    for (int i = terms; i > 0; --i) sum = 1 + sum * 2 * x * x / (2 * i + 1);
    return 1 - 2 * std::numbers::inv_sqrtpi * x * exp(-x * x) * sum;
  }
  double fraction = x;
  for (int i = terms; i > 0; --i) fraction = x + i / (2 * fraction);
  return std::numbers::inv_sqrtpi * exp(-x * x) / fraction;
}

double hypot(double x, double y) { return std::sqrt(x * x + y * y); }

}  // namespace swapmeet::elementary
