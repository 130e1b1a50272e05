/// Elementary functions whose results have the same bits on every processor. Each rank computes decisions for itself,
/// and all ranks must come to the same decision. The C library's functions do not suffice: their results differ in the
/// last bit between processors with and without fused multiply-add, and between library versions. The functions here
/// consist of additions, multiplications, divisions and square roots, which IEEE 754 defines to the last bit, and are
/// compiled without contraction (src/CMakeLists.txt). Their relative error is at most 1e-13.
#pragma once

namespace swapmeet::elementary {

double exp(double x);
double log(double x);
double erfc(double x);
double hypot(double x, double y);  ///< requires that the squares do not overflow

}  // namespace swapmeet::elementary
