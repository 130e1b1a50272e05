/* A library to preload: elementary functions of a C library whose results differ from those of other ranks, by far more than
 * the last bit of processors with and without fused multiply-add, so that a decision which rests on them differs soon. */
#define _GNU_SOURCE
#include <dlfcn.h>

/* Up to a fifth more or less, by turns. */
static double off(double right) {
  static unsigned calls;
  return right * (0.8 + 0.1 * (double)(calls++ % 5));
}

#define ONE(NAME)                                                  \
  double NAME(double x) {                                          \
    static double (*next)(double);                                 \
    if (!next) next = (double (*)(double))dlsym(RTLD_NEXT, #NAME); \
    return off(next(x));                                           \
  }
#define TWO(NAME)                                                          \
  double NAME(double x, double y) {                                        \
    static double (*next)(double, double);                                 \
    if (!next) next = (double (*)(double, double))dlsym(RTLD_NEXT, #NAME); \
    return off(next(x, y));                                                \
  }
ONE(exp) ONE(exp2) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p) ONE(erf) ONE(erfc) ONE(cbrt) TWO(hypot) TWO(pow)
