/// Elementary functions whose results are the same bits on every processor. All ranks compute decisions for themselves and must
/// come to the same ones; but results of the C library's functions differ in the last bit between processors with and without
/// fused multiply-add, and between versions. These functions consist of additions, multiplications, divisions and square roots,
/// which IEEE 754 defines to the last bit, and are compiled without contraction (src/CMakeLists.txt). Accurate to 1e-13 of the
/// result.
#pragma once

namespace swapmeet::elementary {

double exp(double x);
double log(double x);
double erfc(double x);
double hypot(double x, double y);  ///< for squares that are finite

}  // namespace swapmeet::elementary
